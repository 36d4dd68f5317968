import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeHit } from '../../src/decoders/index.ts'
import { readBody } from '../../src/decoders/request-body.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { spreadOf } from '../tools/percentiles.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'

/** Recordings of real pages, stored outside the project; the project's own recordings if those are missing. */
const FOLDERS = ['../../../shared/data/har', '../../test/recordings'].map((path) => join(import.meta.dir, path))
const SECONDS = sized(5, 0)
/** Minimum number of lines read by the command. */
const LINES = sized(200_000, 1)
/** Minimum number of requests in the imported file. */
const REQUESTS = sized(50_000, 1)
const LINE_FEED = 10

interface Captured {
  url: string
  method: string
  body?: string
}

interface Imported {
  accepted: number
  rejected: number
}

interface Har {
  log: { entries: { request: { url: string; method: string; postData?: { text?: string } } }[] }
}

function captured(): { folder: string; hits: Captured[] } {
  const folder = FOLDERS.find((path) => existsSync(path)) ?? FOLDERS.at(-1) ?? ''
  const files = readdirSync(folder).filter((name) => name.endsWith('.har'))
  const hits = files.flatMap((name) => {
    const { log } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Har
    return log.entries.map(({ request: { url, method, postData } }) => ({
      url,
      method: method.toUpperCase(),
      ...(postData?.text === undefined ? {} : { body: postData.text }),
    }))
  })
  return { folder, hits }
}

/** Measures how many recorded requests are decoded per second on one core. */
export async function benchDecode(): Promise<Budget[]> {
  const { hits } = captured()
  const known = hits.filter(({ url, method, ...sent }) => decodeHit({ url, method, body: readBody(sent).text }).vendor)
  const own = rateOf(known)
  const all = rateOf(hits)
  console.log(`  ${hits.length} requests, ${known.length} from known vendors`)
  console.log(`  per request ${spreadOf(timesOf(hits))}`)
  return [
    budget('requests decoded per second, one core', all, 'at least', 60_000),
    budget('requests from known vendors decoded per second, one core', own, 'at least', 60_000),
    budget('lines decoded by `tagwarden decode` / requests decoded', (await commandRate(hits)) / all, 'at least', 0.5),
    budget('imported by `tagwarden import har` / requests decoded', (await importRate(hits)) / all, 'at least', 0.25),
  ]
}

/** Returns the number of lines that the command processes per second, including its startup. */
async function commandRate(hits: readonly Captured[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  try {
    const lines = join(folder, 'lines.ndjson')
    const text = hits.map((hit) => `${JSON.stringify(hit)}\n`).join('')
    const copies = Math.ceil(LINES / hits.length)
    writeFileSync(lines, text.repeat(copies))
    const startedAt = performance.now()
    const child = Bun.spawn(tagwarden('decode'), { stdin: Bun.file(lines), stdout: 'pipe' })
    let answers = 0
    for await (const part of child.stdout) for (const byte of part) if (byte === LINE_FEED) answers++
    if (answers !== copies * hits.length) throw new Error(`${answers} results for ${copies * hits.length} lines`)
    return (answers * 1000) / (performance.now() - startedAt)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Returns the number of requests from a HAR file that the server imports per second, including the startup of the
 * command.
 */
async function importRate(hits: readonly Captured[]): Promise<number> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'))
  try {
    const domain = await client(server.url, key)<{ token: string }>('POST', '/v1/domains', { name: 'shop.example' })
    const file = join(folder, 'requests.har')
    const entries = hits.map(({ body, ...request }) => ({
      request: { ...request, ...(body === undefined ? {} : { postData: { text: body } }) },
    }))
    const copies = Math.ceil(REQUESTS / hits.length)
    writeFileSync(file, JSON.stringify({ log: { entries: Array.from({ length: copies }, () => entries).flat() } }))
    const [cpuMs, startedAt] = [server.cpuMs(), performance.now()]
    const command = tagwarden('import', 'har', file, '--url', server.url, '--token', domain.token, '--json')
    const child = Bun.spawn(command, { stdout: 'pipe' })
    const { accepted, rejected } = JSON.parse(await new Response(child.stdout).text()) as Imported
    await child.exited
    const seconds = (performance.now() - startedAt) / 1000
    if (accepted + rejected !== copies * hits.length) throw new Error(`${accepted} accepted, ${rejected} rejected`)
    const usOf = (ms: number) => ((ms * 1000) / (copies * hits.length)).toFixed(1)
    const ownMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000
    console.log(
      `  import har: µs per request in the command ${usOf(ownMs)}, in the server ${usOf(server.cpuMs() - cpuMs)}`,
    )
    return (accepted + rejected) / seconds
  } finally {
    await server.stop()
    remove()
  }
}

/** Returns the time taken to decode each request, in ms. Each request has already been decoded once. */
function timesOf(hits: readonly Captured[]): number[] {
  return hits.map(({ url, method, ...sent }) => {
    const startedAt = performance.now()
    decodeHit({ url, method, body: readBody(sent).text })
    return performance.now() - startedAt
  })
}

/** Returns the number of requests decoded per second. */
function rateOf(hits: readonly Captured[]): number {
  const decodeAll = () => {
    for (const { url, method, ...sent } of hits) decodeHit({ url, method, body: readBody(sent).text })
  }
  decodeAll()
  const startedAt = performance.now()
  let rounds = 0
  for (; performance.now() - startedAt < SECONDS * 1000; rounds++) decodeAll()
  return (rounds * hits.length * 1000) / (performance.now() - startedAt)
}
