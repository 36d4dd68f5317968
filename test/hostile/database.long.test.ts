import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { messageOf } from '../../src/core/error.ts'
import { answerOf } from '../test-app.ts'
import { bytesOf, flipByte, type KilledFolder, killedFolder } from './killed-server-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'tagwarden-database-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const PATHS = [
  '/v1/org',
  '/v1/domains',
  '/v1/alerts',
  '/v1/integrations',
  '/v1/issues',
  '/v1/usage',
  '/v1/keys',
  '/v1/org/members',
]

interface Readable {
  statuses: Record<string, number>
  /** Ids of the newest events, up to 200. */
  eventIds: string[]
}

interface Started {
  /** Null when the start was rejected. */
  readable: Readable | null
  /** The error, or the log lines. */
  said: string[]
}

/** Starts the program on the folder, runs all background jobs once, reads everything, and stops. */
async function startOn(folder: string, apiKey: string): Promise<Started> {
  const said: string[] = []
  const log = {
    info() {},
    warn: (message: string) => void said.push(message),
    error: (error: unknown, where: string) => void said.push(`${where}: ${messageOf(error)}`),
  }
  const config = readConfig({ data: folder, listen: '127.0.0.1:8787' }, {})
  const transport = { send: async () => ({ kind: 'error' as const, message: 'no user exists', permanent: false }) }
  try {
    const app = await openApp({ config, clock: systemClock, log, transport })
    try {
      for (const job of app.jobs) await job.run().catch((error: unknown) => log.error(error, job.name))
      const get = async (path: string) =>
        answerOf(
          await app.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${apiKey}` } })),
        )
      const statuses: Record<string, number> = {}
      for (const path of PATHS) statuses[path] = (await get(path)).status
      const events = await get('/v1/events?from=0&limit=200')
      statuses['/v1/events'] = events.status
      const eventIds = (events.body.events ?? []).map(({ id }: { id: string }) => id).sort()
      return { readable: { statuses, eventIds }, said }
    } finally {
      await app.close()
    }
  } catch (error) {
    return { readable: null, said: [messageOf(error)] }
  }
}

const DAMAGES: [string, (path: string) => void][] = [
  ['deleted', (path) => rmSync(path)],
  ['cut in half', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['emptied', (path) => truncateSync(path, 0)],
  ...Array.from({ length: 10 }, (_, n): [string, (path: string) => void] => [
    `with one byte flipped at ${n * 10 + 5} %`,
    (path) => flipByte(path, (n + 0.5) / 10),
  ]),
]

const allGood = Object.fromEntries([...PATHS, '/v1/events'].map((path) => [path, 200]))

/** The database, the files that exist while a server runs, and the key that encrypts its secrets. */
const PARTS = ['tagwarden.db', 'tagwarden.db-wal', 'tagwarden.db-shm', 'master.key']

let killed: KilledFolder
let stopped: string
let copies = 0
beforeAll(async () => {
  killed = await killedFolder(join(root, 'killed'))
  stopped = copyOf(killed.path)
  // After a clean stop, the database consists of a single file.
  await startOn(stopped, killed.apiKey)
})

function copyOf(folder: string): string {
  const copy = join(root, `copy-${++copies}`)
  cpSync(folder, copy, { recursive: true })
  return copy
}

const kept = (folder: string) =>
  [...bytesOf(folder).keys()].filter((name) => /\.(?:parquet|ndjson)$/.test(name) && !name.includes('tmp/'))

/**
 * Returns hashes of the database and its write-ahead log. An empty log is treated as missing, and the log's index is
 * ignored, because SQLite recreates it.
 */
const stored = (folder: string) =>
  [...bytesOf(folder)].flatMap(([name, bytes]) =>
    /\.db(?:-wal)?$/.test(name) && bytes.length > 0 ? [[name, Bun.hash(bytes)]] : [],
  )

const REFUSALS =
  /is damaged \(|is missing or empty, but|which has the latest changes of the database, |does not belong to the files|without it, the webhook secrets|can't decrypt the webhook secrets/

// Guarantee: when any one file is damaged, the program starts with all data or rejects the folder with one sentence. A
// rejected folder stays unchanged, and works again when the file is restored.
describe.each(['killed', 'stopped'])('the data folder of a server that was %s', (how) => {
  const whole = () => (how === 'killed' ? killed.path : stopped)
  const names = how === 'killed' ? PARTS : ['tagwarden.db']

  describe.each(names)('%s', (name) => {
    test.each(DAMAGES)(
      '(%s) loads completely, or is rejected with one error message and without data loss',
      async (_, damage) => {
        const folder = copyOf(whole())
        damage(join(folder, name))
        const [files, database] = [kept(folder), stored(folder)]
        const { readable, said } = await startOn(folder, killed.apiKey)
        if (readable) expect(readable).toEqual({ statuses: allGood, eventIds: killed.eventIds })
        else {
          expect(said).toEqual([expect.stringMatching(REFUSALS)])
          expect(said[0]).not.toContain('\n')
          expect(stored(folder)).toEqual(database)
          expect(kept(folder)).toEqual(files)
        }
        if (readable) return
        for (const part of PARTS) {
          rmSync(join(folder, part), { force: true })
          if (existsSync(join(whole(), part))) cpSync(join(whole(), part), join(folder, part))
        }
        const again = await startOn(folder, killed.apiKey)
        expect(again.readable).toEqual({ statuses: allGood, eventIds: killed.eventIds })
      },
    )
  })
})
