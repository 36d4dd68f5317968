import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { withinQuota } from '../integrations/context/call-quota.ts'
import { tagManagerFixture } from './google-tag-manager.fixture.ts'
import { KEY_FILE } from './google-tag-manager-server.fixture.ts'
import { prepareTagManager } from './tag-manager-config.ts'

test('many queued calls delay another organization by only one call', async () => {
  const db = memoryDb()
  const clock = testClock()
  const order: string[] = []
  const { signal } = new AbortController()
  const ask = (orgId: string) =>
    withinQuota(
      { db, clock, provider: 'tag_manager', orgId },
      { calls: 1, windowMs: 1000 },
      {
        signal,
        call: async () => void order.push(orgId),
        waits: (until) => until !== null && clock.set(until),
      },
    )
  await Promise.all([...Array.from({ length: 20 }, () => ask('org_a')), ask('org_b'), ask('org_b')])
  expect(order).toHaveLength(22)
  expect(order.lastIndexOf('org_b')).toBeLessThan(5)
})

describe('concurrent list requests of an integration', () => {
  test('are limited to ten, and further requests get Retry-After', async () => {
    await using env = tagManagerFixture()
    const { connect, call, ada, passing, kill } = env.start({ callsPerMinute: 1 })
    await connect()
    const path = (n: number) => `/v1/integrations/tag_manager/tags?containerPath=accounts/6/containers/${100 + n}`
    const asked = Promise.all(Array.from({ length: 14 }, (_, n) => call('GET', path(n), { as: ada.key })))
    const answers = await passing(asked)
    kill()
    const refused = answers.filter(({ body }) => /10 other requests are already waiting/.test(String(body.error)))
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    expect(refused.every(({ headers }) => headers.get('retry-after') !== null)).toBe(true)
  })
})

test('a key that is too large to sign quickly is rejected', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 4352,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const config = { serviceAccount: { ...KEY_FILE, private_key: privateKey } }
  expect(() => prepareTagManager(config, config)).toThrow(
    'config.serviceAccount.private_key: must have at most 4096 bits',
  )
  expect(prepareTagManager({ serviceAccount: KEY_FILE }, { serviceAccount: KEY_FILE })).toMatchObject({
    serviceAccount: {},
  })
})
