#!/bin/sh
# Asks Sentry: api.sh METHOD /PATH [FILE]. FILE holds the JSON to send, - is standard
# input. Prints the answer. Exit 0: done; 1: failed; 2: wrong use; 3: a key is
# missing or refused.
set -eu
service=Sentry
base=https://sentry.io/api/0
keys='SENTRY_AUTH_TOKEN'
methods='GET PUT'
auth() { printf 'header = "Authorization: Bearer %s"\n' "$SENTRY_AUTH_TOKEN"; }
# The rest is the same in every skill of this kind.
fail() { code=$1; shift; echo "api.sh: $*" >&2; exit "$code"; }
for k in $keys; do
	eval "value=\${$k:-}"
	[ -n "$value" ] || fail 3 "$k is not set"
	case $value in *[!A-Za-z0-9._~+/=:@-]*) fail 3 "$k holds a character that does not belong there" ;; esac
done
if [ "${1:-}" = --api ]; then
	case ${2:-} in
	*@*) fail 2 "--api is for tests on this machine only" ;; # the keys go nowhere else
	http://127.0.0.1:*) base=$2 ;;
	*) fail 2 "--api is for tests on this machine only" ;;
	esac
	shift 2
fi
case $base in https://* | http://127.0.0.1:*) ;; *) fail 2 "the address of $service begins with https://" ;; esac
[ $# = 2 ] || [ $# = 3 ] || fail 2 "usage: api.sh METHOD /PATH [FILE]"
method=$1 path=$2 body=${3:-}
case " $methods " in *" $method "*) ;; *) fail 2 "$method is not offered here; there is: $methods" ;; esac
case $path in
*[[:space:]]*) fail 2 "write blanks in the path as %20" ;;
/*) ;;
*) fail 2 "the path begins with /" ;;
esac
[ -z "$body" ] || [ "$body" = - ] || [ -r "$body" ] || fail 2 "there is no file $body"
command -v curl >/dev/null || fail 1 "curl is not installed"
answer=$(mktemp) || exit 1
trap "rm -f \"\$answer\"" EXIT
set -- --silent --show-error --globoff --max-time 60 --max-filesize 20000000 --output "$answer" --write-out "%{http_code}" --request "$method"
[ -z "$body" ] || set -- "$@" --header "Content-Type: application/json" --data-binary "@$body"
# The keys reach curl through a file descriptor: a command line can be read by others.
status=$(curl "$@" --config /dev/fd/3 "$base$path" 3<<EOF
$(auth)
EOF
) || fail 1 "$service was not reached"
case $status in
2??) cat "$answer" ;;
*)
	head -c 2000 "$answer" >&2
	echo >&2
	case $status in
	401) fail 3 "$service refuses $keys" ;;
	429) fail 1 "$service answers 429: too many requests; wait a minute" ;;
	esac
	fail 1 "$service answers $status"
	;;
esac
