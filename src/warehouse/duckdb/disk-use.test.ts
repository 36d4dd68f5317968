import { expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import { MINUTE_MS } from '../../core/clock.ts'
import { useOf } from '../plan-disk-deletions.ts'
import { HOUR, WarehouseFixture } from '../warehouse.fixture.ts'

test("an organization's disk usage and oldest event include shared files and the spool", async () => {
  await using fixture = await WarehouseFixture.open()
  const use = async (orgId: string) => useOf(await fixture.warehouse.pieces(), orgId)
  expect(await use('org_1')).toEqual({ diskBytes: 0, serverBytes: 0, oldestEventAt: null })
  await fixture.add([{ orgId: 'org_1' }])
  expect(await use('org_1')).toMatchObject({ oldestEventAt: HOUR })
  fixture.clock.advance(MINUTE_MS)
  await fixture.add([{ orgId: 'org_2', params: { text: 'x'.repeat(4000) } }])
  const inSpool = [await use('org_1'), await use('org_2')]
  expect(inSpool.map(({ oldestEventAt }) => oldestEventAt)).toEqual([HOUR, HOUR + MINUTE_MS])
  await fixture.flush()
  const [first, second] = [await use('org_1'), await use('org_2')]
  expect([first.oldestEventAt, second.oldestEventAt]).toEqual([HOUR, HOUR + MINUTE_MS])
  expect(second.diskBytes).toBeGreaterThan(first.diskBytes)
  expect(Math.abs(first.diskBytes + second.diskBytes - fixture.warehouse.bytes)).toBeLessThanOrEqual(1)
  expect(first.diskBytes).toBeGreaterThan(0)
  expect(await use('org_3')).toEqual({ diskBytes: 0, serverBytes: 0, oldestEventAt: null })
})

test('disk usage leaves out a spool that cannot be read', async () => {
  await using fixture = await WarehouseFixture.open()
  await fixture.add([{ orgId: 'org_1' }])
  await fixture.flush()
  const flushed = await fixture.warehouse.pieces()
  expect(flushed.map(({ kind }) => kind)).toContain('events')
  await fixture.add([{ orgId: 'org_1' }])
  for (const path of fixture.spool.files()) {
    rmSync(path)
    mkdirSync(path)
  }
  expect(await fixture.warehouse.pieces()).toEqual(flushed)
})
