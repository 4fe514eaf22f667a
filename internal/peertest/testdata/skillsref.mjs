// Asks skills-ref about each directory that standard input names, one a line:
// what it finds wrong, and the name and description that it reads. Its library
// is the first argument.
import { createInterface } from "node:readline";

const { validate, readProperties } = await import(process.argv[2]);
for await (const dir of createInterface({ input: process.stdin })) {
	const answer = { errors: await validate(dir) };
	try {
		const p = await readProperties(dir);
		answer.read = true;
		answer.name = p.name;
		answer.description = p.description;
	} catch (e) {
		answer.why = e.message;
	}
	console.log(JSON.stringify(answer));
}
