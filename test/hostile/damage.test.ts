import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../app.ts'

// Many starts, on machines that do other things too.
setDefaultTimeout(60_000)

/** What may happen to a file, by name; each changes the file at this path. */
const DAMAGES: [string, (path: string) => void][] = [
  ['deleted', (path) => rmSync(path)],
  ['cut in half', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['emptied', (path) => truncateSync(path, 0)],
  ...Array.from({ length: 10 }, (_, n): [string, (path: string) => void] => [
    `of which one byte is flipped at ${n * 10 + 5} %`,
    (path) => flip(path, (n + 0.5) / 10),
  ]),
]

function flip(path: string, place: number): void {
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length * place)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x15, at)
  writeFileSync(path, bytes)
}

const BATCHES = 20

/** A server that took in 20 batches of two events, each event named after its batch. */
async function collected() {
  const world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const send = async (batch: number) => {
    const events = ['a', 'b'].map((id) => ({
      id: `${batch}${id}`,
      vendor: 'Shop',
      event: 'buy',
      params: { n: 'x'.repeat(50) },
    }))
    return (await world.collect(domain.token, { batchId: `the-batch-${batch}`, events })).body
  }
  for (let batch = 0; batch < BATCHES; batch++) await send(batch)
  return { world, send }
}

const idsIn = async (world: TestApp): Promise<string[]> => {
  const { status, body } = await world.call('GET', '/v1/events?limit=200')
  expect(status).toBe(200)
  return body.events.map(({ id }: { id: string }) => id)
}

/** The batches of which all events are there. Fails when there is a part of one. */
async function batchesIn(world: TestApp): Promise<number[]> {
  const ids = await idsIn(world)
  expect(new Set(ids).size).toBe(ids.length)
  const batches = [...new Set(ids.map((id) => Number.parseInt(id, 10)))].sort((a, b) => a - b)
  expect(ids.length).toBe(2 * batches.length)
  return batches
}

const ALL = Array.from({ length: BATCHES }, (_, batch) => batch)
const spoolFile = (folder: string) => join(folder, 'spool', readdirSync(join(folder, 'spool')).sort()[0] ?? '')
const asideIn = ({ folder }: TestApp) => readdirSync(join(folder, 'damaged'))
const usageIn = async (world: TestApp) => (await world.call('GET', '/v1/usage')).body.totalEvents

describe('a spool file that is found by a start after a kill', () => {
  test.each(DAMAGES)(
    '%s: everything else is read, what is lost is told, and a repeat of it is taken in',
    async (name, damage) => {
      const { world, send } = await collected()
      await using _world = world
      await world.crash((folder) => damage(spoolFile(folder)))
      const kept = await batchesIn(world)
      const lost = ALL.filter((batch) => !kept.includes(batch))
      if (name.includes('flipped')) {
        expect(lost.length).toBeLessThanOrEqual(1)
        expect(world.warnings).toHaveLength(1)
        expect(world.warnings[0]).toContain(`${lost.length} acknowledged batches are lost, of 2 known events`)
        expect(asideIn(world)).toHaveLength(1)
      }
      if (name === 'cut in half') expect(kept.length).toBeGreaterThanOrEqual(8)
      await world.run('flush')
      expect(await batchesIn(world)).toEqual(kept)
      expect(await usageIn(world)).toBe(2 * kept.length)
      for (const batch of ALL) expect(await send(batch)).toEqual({ accepted: 2, rejected: 0, errors: [] })
      expect(await batchesIn(world)).toEqual(ALL)
      world.clock.advance(MINUTE_MS)
      await world.run('flush')
      expect([await batchesIn(world), await usageIn(world)]).toEqual([ALL, 2 * BATCHES])
    },
  )
})

describe('a spool file of a running server', () => {
  test.each(DAMAGES)(
    '%s: queries and loading go on, what is lost is told, and a repeat of it is taken in',
    async (name, damage) => {
      const { world, send } = await collected()
      await using _world = world
      damage(spoolFile(world.folder))
      const before = await idsIn(world)
      world.clock.advance(MINUTE_MS)
      if (name === 'deleted') {
        await expect(world.run('flush')).rejects.toThrow('its file is gone')
        world.clock.advance(HOUR_MS)
      }
      await world.run('flush')
      const kept = await batchesIn(world)
      expect(kept.length).toBeLessThan(BATCHES)
      if (name.includes('flipped')) expect([before.length >= 2 * BATCHES - 2, kept.length]).toEqual([true, BATCHES - 1])
      expect(world.warnings).toHaveLength(1)
      expect(world.warnings[0]).toContain(`${BATCHES - kept.length} acknowledged batches are lost`)
      for (const batch of ALL) await send(batch)
      expect(await batchesIn(world)).toEqual(ALL)
      world.clock.advance(MINUTE_MS)
      await world.run('flush')
      expect([await batchesIn(world), await usageIn(world)]).toEqual([ALL, 2 * BATCHES])
    },
  )
})
