import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBody } from '../src/decoders/body.ts'
import { decodeHit } from '../src/decoders/index.ts'
import { type Budget, budget } from './budget.ts'

/** Recordings of real pages beside the project; where they are absent, the project's own. */
const FOLDERS = ['../../shared/data/har', '../test/recordings'].map((path) => join(import.meta.dir, path))
const SECONDS = 5

interface Captured {
  url: string
  method: string
  body?: string
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

/** Measures how many recorded real requests are decoded in a second, on one core. */
export async function benchDecode(): Promise<Budget[]> {
  const { hits } = captured()
  const known = hits.filter(({ url, method, ...sent }) => decodeHit({ url, method, body: readBody(sent).text }).vendor)
  const own = rateOf(known)
  const all = rateOf(hits)
  console.log(`  ${hits.length} requests, ${known.length} of known vendors`)
  return [
    budget('requests decoded a second, one core', all, 'at least', 60_000),
    budget('those of known vendors alone', own, 'at least', 60_000),
  ]
}

/** Returns requests a second. */
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
