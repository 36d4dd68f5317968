import { createInterface } from 'node:readline'
import { readBody } from '../decoders/body.ts'
import { decodeHit } from '../decoders/index.ts'
import type { Command } from './command.ts'
import { type RecordedHit, readHar } from './har.ts'

type Input = Partial<Pick<RecordedHit, 'url' | 'method' | 'body' | 'bodyBase64' | 'contentEncoding'>>

/** What one request says: the line that is printed. */
export function decodeLine(hit: Input) {
  const nothing = (error: string) => ({ vendor: null, kind: null, account: null, events: [], error })
  if (typeof hit?.url !== 'string') return nothing('url: is missing')
  const { method = 'GET', url } = hit
  const body = readBody(hit)
  if (body.error !== null) return nothing(`body: ${body.error}`)
  const { vendor, kind, account, events, error } = decodeHit({ url, method: method.toUpperCase(), body: body.text })
  // Loading a library is the vendor's request, but no event.
  const shown = events.filter((event) => event.kind === 'event')
  return {
    vendor,
    kind,
    account,
    events: shown.map(({ event, account, params }) => ({ event, account, params })),
    error,
  }
}

export const decode: Command = {
  name: 'decode',
  summary: 'Decodes vendor requests, one JSON object a line from standard input, or those of a HAR file.',
  flags: { har: { type: 'string', value: 'FILE', meaning: 'Read the requests of a HAR file instead' } },
  async run({ flags }) {
    if (typeof flags.har === 'string') {
      for (const hit of readHar(flags.har)) console.log(JSON.stringify(decodeLine(hit)))
      return 0
    }
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() !== '') console.log(JSON.stringify(decodeText(line)))
    }
    return 0
  },
}

function decodeText(line: string) {
  try {
    return decodeLine(JSON.parse(line))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { vendor: null, kind: null, account: null, events: [], error: 'the line is not valid JSON' }
  }
}
