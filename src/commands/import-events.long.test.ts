import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ask, PROGRAM, runProgram, startServer, temporaryFolder } from '../../test/run-program.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { parquetOf } from '../data-folder/import-events.fixture.ts'
import type { Imported } from '../data-folder/import-events.ts'

/** Creates a data folder with a domain. No server is running. */
async function stoppedFolder() {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const made = await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json'])
  const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
  await using server = await startServer(data)
  const domain: { id: string } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'shop.example' })
  await server.stop()
  return {
    data,
    apiKey,
    domainId: domain.id,
    async write(name: string, lines: readonly (object | string)[]): Promise<string> {
      const path = join(folder.path, name)
      const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
      await Bun.write(path, name.endsWith('.gz') ? Bun.gzipSync(text) : text)
      return path
    },
    pathOf: (name: string) => join(folder.path, name),
    async run(...args: string[]): Promise<Imported> {
      const { code, stdout, stderr } = await runProgram(['import', 'events', ...args, '--data', data, '--json'])
      if (code !== 0) throw new Error(`${code}: ${stderr}`)
      return JSON.parse(stdout) as Imported
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

describe('an import of past events', () => {
  test('reads all formats, makes events available after the next start, and opens no issues', async () => {
    using folder = await stoppedFolder()
    const { domainId, apiKey, data } = folder
    const now = Date.now()
    const at = (days: number, n = 0) => now - days * DAY_MS + n
    const line = (n: number) => ({ receivedAt: at(20, n), vendor: 'Shop', event: 'view', params: { n } })
    const plain = await folder.write('a.ndjson', [0, 1, 2].map(line))
    const packed = await folder.write('b.jsonl.gz', [3, 4].map(line))
    const columnar = folder.pathOf('c.parquet')
    await parquetOf(
      columnar,
      `SELECT '${domainId}' AS domainId, ${at(10)} + range AS receivedAt, 'Shop' AS vendor,
      'buy' AS event, MAP {'transaction_id': 'T' || range} AS params, 'ann' AS customerId FROM range(1000)`,
    )
    expect(await folder.run(plain, packed, '--domain', domainId)).toEqual({ imported: 5, refused: 0, errors: [] })
    expect(await folder.run(columnar)).toEqual({ imported: 1000, refused: 0, errors: [] })

    await using server = await startServer(data)
    const get = async <T>(path: string): Promise<T> => (await ask('GET', server.url + path, apiKey)) as T
    const found = await get<{ events: { event: string; params: object; customerId: string }[] }>(
      `/v1/events?from=${at(30)}&limit=200`,
    )
    expect(found.events.map(({ event }) => event).filter((event) => event === 'buy').length).toBe(200)
    const old = await get<{ events: { params: object }[] }>(`/v1/events?from=${at(30)}&to=${at(15)}`)
    expect(old.events.map(({ params }) => params)).toEqual([4, 3, 2, 1, 0].map((n) => ({ n: String(n) })))
    const usage = await get<{ totalEvents: number; oldestEventAt: number; diskBytes: number }>('/v1/usage?days=60')
    expect(usage).toMatchObject({ totalEvents: 1005, oldestEventAt: at(20) })
    expect(usage.diskBytes).toBeGreaterThan(0)
    expect(await get(`/v1/domains/${domainId}`)).toMatchObject({ createdAt: at(20), lastEventAt: at(10, 999) })
    const volume = await get<{ series: { observed: number }[] }>(`/v1/insights/volume?domainId=${domainId}&hours=720`)
    expect(volume.series.reduce((sum, { observed }) => sum + observed, 0)).toBe(1005)
    expect(await get('/v1/issues')).toMatchObject({ issues: [] })
    expect(await get('/v1/notifications/deliveries')).toMatchObject({ deliveries: [] })
  })

  test('imports the same content only once, even if it is compressed or has another name', async () => {
    using folder = await stoppedFolder()
    const lines = [1, 2, 3].map((n) => ({
      receivedAt: Date.now() - n * HOUR_MS,
      vendor: 'Shop',
      domainId: folder.domainId,
    }))
    const first = await folder.write('a.ndjson', lines)
    const again = await folder.write('b.jsonl', lines)
    const packed = await folder.write('c.ndjson.gz', lines)
    expect(await folder.run(first, first)).toMatchObject({ imported: 3 })
    expect(await folder.run(again)).toEqual({ imported: 0, refused: 0, errors: [] })
    expect(await folder.run(packed)).toMatchObject({ imported: 0 })
    const more = await folder.write('d.ndjson', [...lines, { ...lines[0], event: 'other' }])
    expect(await folder.run(more)).toMatchObject({ imported: 4 })
  })

  test('skips and reports invalid lines', async () => {
    using folder = await stoppedFolder()
    const good = { receivedAt: Date.now() - MINUTE_MS, vendor: 'Shop' }
    const bad = Array.from({ length: 30 }, () => ({ ...good, vendor: '' }))
    const path = await folder.write('a.ndjson', ['{', good, ...bad, good])
    const { imported, refused, errors } = await folder.run(path, '--domain', folder.domainId)
    expect({ imported, refused, errors: errors.length }).toEqual({ imported: 2, refused: 31, errors: 20 })
    expect(errors.slice(0, 2)).toEqual([
      { file: path, line: 1, error: 'is not valid JSON' },
      { file: path, line: 3, error: 'vendor: must not be empty' },
    ])
  })
})

test('is complete and has no duplicates after it is killed at any moment and repeated', async () => {
  using folder = await stoppedFolder()
  const file = folder.pathOf('a.parquet')
  const [rows, from] = [60_000, Date.now() - 20 * DAY_MS]
  await parquetOf(
    file,
    `SELECT '${folder.domainId}' AS domainId, ${from} + range * 20000 AS receivedAt, 'Shop' AS vendor, 'n' || range AS id,
       MAP {'n': range::VARCHAR} AS params FROM range(${rows})`,
  )
  const started = performance.now()
  let killed = 0
  // Each run lasts longer than the previous one, so that kills occur in every phase.
  for (let lifeMs = 100; ; lifeMs += 250) {
    const child = Bun.spawn([...PROGRAM, 'import', 'events', file, '--data', folder.data, '--json'], { stdout: 'pipe' })
    const timer = setTimeout(() => child.kill('SIGKILL'), lifeMs)
    const printed = await new Response(child.stdout).text()
    await child.exited
    clearTimeout(timer)
    if (printed !== '') {
      const { imported } = JSON.parse(printed) as Imported
      // The process may have been killed after it finished the import but before it reported the result.
      expect([0, rows]).toContain(imported)
      break
    }
    killed++
    expect(performance.now() - started).toBeLessThan(100_000)
  }
  expect(killed).toBeGreaterThan(2)
  expect(await folder.run(file)).toEqual({ imported: 0, refused: 0, errors: [] })
  await using server = await startServer(folder.data)
  const get = (path: string) => ask('GET', server.url + path, folder.apiKey)
  expect((await get('/v1/usage?days=60')).totalEvents).toBe(rows)
  const volume: { series: { observed: number }[] } = await get(`/v1/insights/volume?hours=720`)
  expect(volume.series.reduce((sum, { observed }) => sum + observed, 0)).toBe(rows)
  const newest = await get(`/v1/events?from=${from}&limit=1`)
  expect(newest.events).toMatchObject([{ id: `n${rows - 1}` }])
})

describe("an import that can't start", () => {
  test('exits with 2 and creates nothing: running server, missing folder, invalid files, unknown domain', async () => {
    using folder = await stoppedFolder()
    const path = await folder.write('a.ndjson', [{ receivedAt: Date.now() - 1, vendor: 'Shop' }])
    const fails = async (...args: string[]) => {
      const { code, stderr, stdout } = await runProgram(['import', 'events', ...args])
      expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 })
      return stderr
    }
    const missing = folder.pathOf('nowhere')
    expect(await fails(path, '--data', missing)).toContain('data folder not found')
    expect(existsSync(missing)).toBe(false)
    expect(await fails('--data', folder.data)).toContain('no file given')
    expect(await fails(`${path}.txt`, '--data', folder.data)).toContain('must end in')
    expect(await fails(`${path}x.ndjson`, '--data', folder.data)).toContain('file not found')
    expect(await fails(path, '--data', folder.data, '--domain', 'dom_x')).toContain('no such domain: dom_x')
    const text = await folder.write('b.parquet', ['no Parquet'])
    expect(await fails(text, '--data', folder.data)).toContain("can't be read")
    const torn = await folder.write('c.ndjson.gz', ['x'.repeat(10_000)])
    await Bun.write(torn, (await Bun.file(torn).bytes()).subarray(0, 30))
    expect(await fails(torn, '--data', folder.data)).toContain("can't be read")
    await using server = await startServer(folder.data)
    expect(await fails(path, '--data', folder.data)).toContain('another tagwarden process is using')
    await server.stop()
    expect(readdirSync(join(folder.data, 'events', 'tmp'))).toEqual([])
  })
})
