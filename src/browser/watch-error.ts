/** What Chromium's net errors mean, for those that tests of tags meet. */
const NET_ERRORS: Record<string, string> = {
  ERR_ABORTED: 'The page gave it up',
  ERR_ADDRESS_UNREACHABLE: 'The server cannot be reached',
  ERR_CONNECTION_CLOSED: 'The server closed the connection',
  ERR_CONNECTION_REFUSED: 'The server refused the connection',
  ERR_CONNECTION_RESET: 'The server broke the connection',
  ERR_CONNECTION_TIMED_OUT: 'The server did not answer in time',
  ERR_EMPTY_RESPONSE: 'The server closed the connection without an answer',
  ERR_INTERNET_DISCONNECTED: 'There is no connection to the network',
  ERR_NAME_NOT_RESOLVED: 'No address is known for the host',
  ERR_TIMED_OUT: 'The server did not answer in time',
  ERR_TOO_MANY_REDIRECTS: 'It was redirected too often',
  ERR_TUNNEL_CONNECTION_FAILED: 'The host cannot be reached',
}

/** What the Network domain says of a request that failed. */
export interface Failure {
  errorText: string
  canceled?: boolean
  blockedReason?: string
  corsErrorStatus?: { corsError: string }
}

/** Why a request failed, in a sentence without its full stop. */
export function failureText({ errorText, canceled, blockedReason, corsErrorStatus }: Failure): string {
  if (blockedReason) return `The browser blocked it (${blockedReason})`
  if (corsErrorStatus) return `The browser kept the answer from the page (CORS: ${corsErrorStatus.corsError})`
  if (canceled) return 'The page gave it up'
  const code = errorText.replace(/^net::/, '')
  if (code.startsWith('ERR_CERT_')) return `The server's certificate is not valid (${code})`
  return NET_ERRORS[code] ?? `The browser says ${code || 'that it failed'}`
}
