import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { MINUTE_MS } from '../core/clock.ts'
import type { Outbound, Reply } from '../transport/transport.ts'
import { checkHosts } from './check-collect-hostnames.ts'
import { setRouting } from './collect-hostname-store.ts'
import { createDomain, findDomain } from './store.ts'

function setUp() {
  const [db, clock, stopping] = [memoryDb(), testClock(), new AbortController()]
  const { orgId } = cast(db, clock)
  const id = createDomain(db, clock, orgId, { name: 'Shop' })
  setRouting(db, { orgId, id }, 'custom', 'c.shop.example')
  const { token } = findDomain(db, { orgId, id }, clock.now())
  const requests: Outbound[] = []
  const world = { changes: 0, reply: { kind: 'error', message: 'no such name', permanent: false } as Reply }
  const transport = {
    async send(outbound: Outbound) {
      requests.push(outbound)
      return world.reply
    },
  }
  const job = () => checkHosts({ db, clock, transport, changed: () => void world.changes++, signal: stopping.signal })
  const status = () => findDomain(db, { orgId, id }, clock.now()).collectStatus
  return { clock, stopping, token, requests, world, job, status }
}

const answered = (status: number, body: string): Reply => ({ kind: 'status', status, headers: {}, body })

test('a hostname is active when this collector responds there', async () => {
  const { clock, token, requests, world, job, status } = setUp()
  await job()
  expect([status(), world.changes]).toEqual(['failing', 0])
  expect(requests).toMatchObject([{ kind: 'http', method: 'GET', url: `https://c.shop.example/t/${token}.json` }])
  await job()
  expect(requests).toHaveLength(1)

  clock.advance(10 * MINUTE_MS + 1)
  world.reply = answered(200, JSON.stringify({ version: 1, token }))
  await job()
  expect([status(), world.changes]).toEqual(['active', 1])

  for (const reply of [answered(200, '<html>'), answered(404, `"${token}"`), answered(302, '')]) {
    clock.advance(10 * MINUTE_MS + 1)
    world.reply = reply
    await job()
    expect(status()).toBe('failing')
  }
})

test('an aborted check leaves the status unchanged', async () => {
  const { stopping, job, status } = setUp()
  stopping.abort()
  await job()
  expect(status()).toBe('pending')
})
