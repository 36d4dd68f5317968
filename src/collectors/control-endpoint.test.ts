import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { addCollector, listCollectors } from './store.ts'

test('a server with events in its data folder refuses collectors and says what to set', async () => {
  await using world = await testApp()
  const { token } = addCollector(world.app.db, world.clock, 'east')
  const post = async (path: string, as: string) => {
    const response = await world.app.fetch(
      new Request(`http://localhost/collectors/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${as}` },
      }),
    )
    return { status: response.status, body: await response.json() }
  }
  for (const path of ['sync', 'claim', 'commit']) {
    expect(await post(path, token)).toEqual({
      status: 409,
      body: { error: expect.stringContaining('set TAGWARDEN_WAREHOUSE on it to a ClickHouse database') },
    })
    expect(await post(path, 'ct_unknown')).toMatchObject({ status: 401 })
  }
  expect(listCollectors(world.app.db)).toMatchObject([{ name: 'east', seenAt: null }])
})
