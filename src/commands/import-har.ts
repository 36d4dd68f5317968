import { randomUUID } from 'node:crypto'
import type { RecordedHit } from '../browser/har-requests.ts'
import { type Command, required, UsageError } from './command.ts'
import { readHar } from './read-har.ts'

/**
 * Matches requests to a web server. Other requests in a recording, such as `data:` and `blob:`, were not sent to one.
 */
const TO_A_WEB_SERVER = /^https?:/i
const BATCH_HITS = 100
const BATCH_BYTES = 500_000
/** Maximum number of concurrent batches. The collector stores waiting batches together. */
const AT_ONCE = 4
const PROGRESS_AFTER_MS = 2000
/** Maximum number of requests with missing bodies to list, each with the reason. */
const MAX_LISTED = 20

/** Hits from one page and browser, each as JSON. The page is null when unknown, and the browser empty. */
interface Batch {
  page: string | null
  userAgent: string
  hits: string[]
}

/** Groups hits by page and browser, in batches that fit the collector's limits. Batches are generated on demand. */
export function* batchesOf(hits: readonly RecordedHit[]): Generator<Batch> {
  let batch: Batch | null = null
  let bytes = 0
  for (const one of hits) {
    // Setting fields to undefined omits them from the JSON. This is faster than copying the other fields.
    const { pageUrl: page, userAgent = '' } = one
    const hit = JSON.stringify({ ...one, pageUrl: undefined, userAgent: undefined, ts: undefined })
    const size = Buffer.byteLength(hit)
    const fits = (open: Batch) =>
      open.page === page && open.userAgent === userAgent && open.hits.length < BATCH_HITS && bytes + size < BATCH_BYTES
    if (batch && fits(batch)) batch.hits.push(hit)
    else {
      if (batch) yield batch
      batch = { page, userAgent, hits: [hit] }
      bytes = 0
    }
    bytes += size
  }
  if (batch) yield batch
}

/** Returns the body of a collector request. The hits are already JSON. */
function bodyOf({ page, userAgent, hits }: Batch): string {
  // Without `userAgent`, the collector would read the header of this program.
  const frame = { batchId: randomUUID(), userAgent, ...(page === null ? {} : { page: { url: page } }) }
  return `${JSON.stringify(frame).slice(0, -1)},"hits":[${hits.join(',')}]}`
}

export interface Imported {
  accepted: number
  rejected: number
}

/**
 * Sends hits to a collector. A hit that is too large counts as rejected. Rejects when the collector rejects a batch for
 * another reason.
 */
export async function sendHits(
  hits: readonly RecordedHit[],
  to: { url: string; token: string },
  progress: (sent: number) => void = () => {},
): Promise<Imported> {
  const total: Imported = { accepted: 0, rejected: 0 }
  let sent = 0
  const send = async (batch: Batch) => {
    const { hits } = batch
    const response = await fetch(`${to.url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${to.token}`, 'content-type': 'application/json' },
      body: bodyOf(batch),
    })
    if (response.status === 413) total.rejected += hits.length
    else {
      const { accepted, rejected } = await answerOf(response)
      total.accepted += accepted
      total.rejected += rejected
    }
    sent += hits.length
    progress(sent)
  }
  // When one sender fails, the other senders also stop, because they share the generator.
  const batches = batchesOf(hits)
  const { value: first } = batches.next()
  // The first batch is sent alone, so that a wrong URL or token causes only one error.
  if (first) await send(first)
  const sendRest = async () => {
    for (const batch of batches) await send(batch)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendRest))
  return total
}

async function answerOf(response: Response): Promise<Imported> {
  const text = await response.text()
  const answer = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}
  if (response.ok && typeof answer.accepted === 'number') return answer
  const reason = typeof answer.error === 'string' ? answer.error : 'is this the URL of a collector?'
  throw new UsageError(`import har: the collector responded with ${response.status}: ${reason}`)
}

/** A request that was not sent because its body is missing from the recording. */
interface WithoutBody {
  file: string
  /** Index in `log.entries`, from 0. */
  entry: number
  /** URL without its query, which may contain credentials. */
  url: string
  reason: string
}

function withoutBodyIn(file: string, hits: readonly RecordedHit[]): WithoutBody[] {
  return hits.flatMap(({ url, missingBody }) =>
    missingBody
      ? [{ file, entry: missingBody.entry, url: url.replace(/[?#].*$/s, ''), reason: missingBody.reason }]
      : [],
  )
}

function printOthers({ withoutPage, withoutBody }: { withoutPage: number; withoutBody: readonly WithoutBody[] }): void {
  if (withoutPage > 0) console.log(withoutPage === 1 ? '1 hit has no page' : `${withoutPage} hits have no page`)
  const count = withoutBody.length
  if (count === 0) return
  console.log(`${count === 1 ? '1 request was' : `${count} requests were`} not sent, because the body is missing:`)
  for (const { file, entry, url, reason } of withoutBody.slice(0, MAX_LISTED)) {
    console.log(`  ${file}, entry ${entry}, ${url}: ${reason}`)
  }
  if (count > MAX_LISTED) console.log(`  and ${count - MAX_LISTED} more (--json lists all)`)
}

export const importHar: Command = {
  name: 'import har',
  operands: 'FILE…',
  summary: 'Sends the requests in HAR files to the collector as hits, which count as received now.',
  flags: {
    url: { type: 'string', value: 'BASE', meaning: 'URL of the collector, such as http://127.0.0.1:8787' },
    token: { type: 'string', value: 'T', meaning: 'Property token, pt_…' },
    json: { type: 'boolean', meaning: 'Print {accepted, rejected, withoutPage, withoutBody} as JSON' },
  },
  async run(invocation) {
    const url = required(importHar, invocation, 'url').replace(/\/+$/, '')
    const token = required(importHar, invocation, 'token')
    if (invocation.names.length === 0) throw new UsageError('import har: no file given')
    const hits: RecordedHit[] = []
    const withoutBody: WithoutBody[] = []
    let others = 0
    for (const file of invocation.names) {
      const recorded = await readHar(file)
      const sent = recorded.filter(({ url }) => TO_A_WEB_SERVER.test(url))
      others += recorded.length - sent.length
      for (const one of withoutBodyIn(file, sent)) withoutBody.push(one)
      for (const hit of sent) if (!hit.missingBody) hits.push(hit)
    }
    const started = performance.now()
    const bar = (sent: number) => {
      if (process.stderr.isTTY && performance.now() - started > PROGRESS_AFTER_MS) {
        process.stderr.write(`\r${sent} of ${hits.length} requests`)
      }
    }
    const { accepted, rejected } = await sendHits(hits, { url, token }, bar)
    const withoutPage = hits.filter(({ pageUrl }) => pageUrl === null).length
    if (invocation.flags.json) console.log(JSON.stringify({ accepted, rejected, withoutPage, withoutBody }))
    else {
      const left = others > 0 ? `, ${others} skipped, not sent to a web server (data:, blob:, …)` : ''
      console.log(`${accepted} requests imported, ${rejected} rejected${left}`)
      printOthers({ withoutPage, withoutBody })
    }
    return 0
  },
}
