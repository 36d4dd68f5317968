import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestApp, testApp } from '../../test/app.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'

const files = ({ folder }: TestApp) => readdirSync(join(folder, 'events')).filter((name) => name.endsWith('.parquet'))
const search = async (world: TestApp, query = ''): Promise<object[]> =>
  (await world.call('GET', `/v1/events?limit=200${query}`)).body.events

test('an hour that ended becomes one file, and every answer stays', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  for (let part = 0; part < 5; part++) {
    const events = ['view', 'buy'].map((event) => ({
      vendor: part % 2 ? 'Shop' : 'Other',
      event,
      params: { part: String(part), ...(part === 0 ? { Rare: 'needle', rare: 'hay' } : {}) },
    }))
    await world.collect(domain.token, { events })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
  }
  const before = await search(world)
  expect(before).toHaveLength(10)
  expect(files(world)).toHaveLength(5)
  await world.run('compact')
  expect(files(world)).toHaveLength(5)

  world.clock.advance(HOUR_MS + 3 * MINUTE_MS)
  await world.run('compact')
  expect(files(world)).toHaveLength(1)
  expect(await search(world)).toEqual(before)
  expect(await search(world, '&vendor=Shop&event=buy')).toHaveLength(2)
  expect(await search(world, '&q=needle')).toHaveLength(2)

  // Again, and after a restart, there is nothing left to do.
  const compacted = files(world)
  await world.run('compact')
  await world.restart()
  await world.run('compact')
  expect(files(world)).toEqual(compacted)
  expect(await search(world)).toEqual(before)
})
