import type { RecordedHit } from '../browser/har-requests.ts'
import { decodeHit } from '../decoders/index.ts'
import { readBody } from '../decoders/request-body.ts'
import type { Command } from './command.ts'
import { readHar } from './read-har.ts'

/** Optional input fields, in addition to `url`. */
const OPTIONAL = ['method', 'body', 'bodyBase64', 'contentEncoding'] as const
type Input = { url: string } & { [Field in (typeof OPTIONAL)[number]]?: string | null }

/** Returns the reason why a value is not a valid request; null when it is valid. */
function faultOf(value: unknown): string | null {
  const fields = (value ?? {}) as Record<string, unknown>
  if (typeof fields.url !== 'string') return 'url: is missing'
  const wrong = OPTIONAL.find((field) => typeof (fields[field] ?? '') !== 'string')
  return wrong === undefined ? null : `${wrong}: must be a string`
}

const nothing = (error: string) => ({ vendor: null, kind: null, account: null, events: [], error })

/** Returns the output for one request, or an error for an invalid one. Never throws. */
export function decodeLine(value: unknown) {
  const fault = faultOf(value)
  if (fault !== null) return nothing(fault)
  // Safe because `faultOf` has checked the value.
  const request = value as Input
  const body = readBody(request)
  if (body.error !== null) return nothing(`body: ${body.error}`)
  const hit = { url: request.url, method: (request.method ?? 'GET').toUpperCase(), body: body.text }
  const { vendor, kind, account, events, error } = decodeHit(hit)
  // Loading a vendor's library is a request to the vendor, but not an event.
  const shown = events.filter((event) => event.kind === 'event')
  return {
    vendor,
    kind,
    account,
    events: shown.map(({ event, account, params }) => ({ event, account, params })),
    error,
  }
}

/** Like `decodeLine`, for a recorded request. When its body is missing, only the vendor is known, from the URL. */
export function decodeRecorded({ missingBody, ...hit }: RecordedHit) {
  if (!missingBody) return decodeLine(hit)
  const { vendor } = decodeHit({ url: hit.url, method: hit.method.toUpperCase(), body: null })
  return { ...nothing(`body: ${missingBody.reason}`), vendor }
}

/** Like `decodeLine`, for a line of JSON. */
export function decodeText(line: string) {
  try {
    return decodeLine(JSON.parse(line))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return nothing('the line is not valid JSON')
  }
}

/**
 * Yields lines in groups, one group per chunk of the stream, because awaiting each line would cost as much as decoding
 * it. Does not use `readline`, which would also split at U+2028, although JSON may contain it unescaped.
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}

/** Prints each value as a line of JSON. All values are printed in one write. */
function print(values: readonly unknown[]): void {
  console.log(values.map((value) => JSON.stringify(value)).join('\n'))
}

/** Number of requests from a file that are printed in one write. */
const AT_ONCE = 1000

export const decode: Command = {
  name: 'decode',
  summary: 'Decodes vendor requests from standard input (one JSON object per line) or from a HAR file.',
  flags: {
    har: {
      type: 'string',
      value: 'FILE',
      meaning: 'Read the requests from a HAR file (or .har.zip) instead; prints one line per request',
    },
  },
  async run({ flags }) {
    if (typeof flags.har === 'string') {
      const hits = await readHar(flags.har)
      for (let at = 0; at < hits.length; at += AT_ONCE) print(hits.slice(at, at + AT_ONCE).map(decodeRecorded))
      return 0
    }
    for await (const lines of linesOf(Bun.stdin.stream())) print(lines.map(decodeText))
    return 0
  },
}
