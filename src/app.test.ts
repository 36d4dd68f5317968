import { expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TEST_START, testClock } from '../test/fixtures.ts'
import { openApp } from './app.ts'
import { readConfig } from './config.ts'
import { MINUTE_MS, SECOND_MS } from './core/clock.ts'
import { createDomain, findDomain } from './domains/store.ts'
import { initialize } from './org/store.ts'
import { gapsBetween } from './signals/gap-store.ts'

/** Returns a program with its own data folder, and functions that make storing fail. */
async function onBadDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'bad-disk-'))
  const clock = testClock()
  const warnings: string[] = []
  const log = { info() {}, warn: (message: string) => void warnings.push(message), error() {} }
  const open = () => openApp({ config: readConfig({ listen: '127.0.0.1:0', data: folder }, {}), clock, log })
  let app = await open()
  const { orgId } = await initialize(app.db, app.box, clock, {
    orgName: 'Acme',
    email: 'a@example.com',
    password: null,
  })
  const id = createDomain(app.db, clock, orgId, { name: 'Shop' })
  const { token } = findDomain(app.db, { orgId, id }, clock.now())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const spool = join(folder, 'spool')
  return {
    warnings,
    gaps: () =>
      gapsBetween(app.db, 0, Number.MAX_SAFE_INTEGER).map(
        ({ fromAt, toAt, cause }) => `${cause} ${(fromAt - TEST_START) / SECOND_MS}–${(toAt - TEST_START) / SECOND_MS}`,
      ),
    /** Sends one event and returns the HTTP status. */
    async send() {
      const body = JSON.stringify({ events: [{ vendor: 'Shop', event: 'buy' }] })
      const request = new Request('http://localhost/api/v1/events', { method: 'POST', headers, body })
      return (await app.collector.fetch(request)).status
    },
    async alive(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        clock.advance(SECOND_MS)
        await app.jobs.find(({ name }) => name === 'heartbeat')?.run()
      }
    },
    flush: () => app.jobs.find(({ name }) => name === 'flush')?.run(),
    refusing: async () => {
      const answer = await app.fetch(new Request('http://localhost/metrics'))
      return /^tagwarden_collector_refusing (.*)$/m.exec(await answer.text())?.[1]
    },
    // Without its folder, nothing can be stored.
    breakDisk: () => renameSync(spool, `${spool}.away`),
    mendDisk: () => renameSync(`${spool}.away`, spool),
    async restart(afterMs: number) {
      clock.advance(afterMs)
      await app.close()
      app = await open()
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      rmSync(folder, { recursive: true })
    },
  }
}

test("the period in which the collector can't store batches is one gap, even across restarts", async () => {
  await using world = await onBadDisk()
  expect(await world.send()).toBe(202)
  await world.alive(10)
  await world.flush()
  expect(await world.refusing()).toBe('0')

  world.breakDisk()
  expect(await world.send()).toBe(503)
  await world.alive(40)
  expect(await world.send()).toBe(503)
  expect([world.gaps(), await world.refusing()]).toEqual([['refused 10–40'], '1'])
  world.mendDisk()
  await world.alive(15)
  expect(await world.send()).toBe(202)
  expect(world.gaps()).toEqual(['refused 10–65'])
  await world.alive(10)
  await world.flush()
  expect(await world.refusing()).toBe('0')
  expect(world.warnings).toEqual([expect.stringContaining('rejecting events since 2026-01-05 12:00 UTC')])

  // The disk soon has space again, but the program is stopped in between. This is still one gap, reported once.
  world.breakDisk()
  expect(await world.send()).toBe(503)
  await world.alive(30)
  world.mendDisk()
  await world.restart(10 * MINUTE_MS)
  expect(await world.send()).toBe(202)
  expect([world.gaps(), world.warnings.length]).toEqual([['refused 10–705'], 1])

  // A failure an hour later is a new gap.
  await world.alive(200)
  await world.flush()
  world.breakDisk()
  expect(await world.send()).toBe(503)
  world.mendDisk()
  await world.alive(5)
  expect(await world.send()).toBe(202)
  expect([world.gaps(), world.warnings.length]).toEqual([['refused 10–705', 'refused 905–910'], 2])
})
