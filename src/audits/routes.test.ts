import { expect, test } from 'bun:test'
import { cast, client, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import type { AlertChannel } from '../alerts/alert.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { createKey } from '../org/api-key-store.ts'
import { auditRoutes } from './routes.ts'

const CHANNELS: AlertChannel[] = [
  { type: 'team_chat', target: 'https://hooks.slack.com/services/T0/B0/secret' },
  { type: 'email', target: 'ann@example.com' },
]

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const routes = auditRoutes({
    db,
    box: testBox,
    clock,
    region: 'local',
    checkAddress() {},
    checkChannels() {},
    audits: { fault: () => null, start() {}, stop() {} },
    privacyOf: () => PLAIN_PRIVACY,
  })
  const call = client({ db, clock }, ...routes)
  const { userId, orgId } = people.bob
  const { secret: readOnly } = createKey(db, clock, { userId, orgId, name: 'A', readOnly: true, expiresInDays: null })
  const make = (channels: readonly AlertChannel[], name = 'Shop', as = people.bob.key) =>
    call('POST', '/v1/audits', { as, body: { name, startUrls: ['https://shop.example/'], channels } })
  return { db, call, people, readOnly, make }
}

test('a URL in a channel target is sealed, and masked for viewers and read-only keys', async () => {
  const { db, call, people, readOnly, make } = setUp()
  const { status, body } = await make(CHANNELS)
  expect([status, body.channels]).toEqual([201, CHANNELS])
  expect(JSON.stringify(db.prepare('SELECT * FROM audit').all())).not.toContain('secret')
  for (const as of [people.vera.key, readOnly]) {
    const answers = [await call('GET', '/v1/audits', { as }), await call('GET', `/v1/audits/${body.id}`, { as })]
    const text = JSON.stringify(answers.map((answer) => answer.body))
    expect(text).toContain('https://hooks.slack.com/***')
    expect(text).not.toMatch(/secret|ann@/)
  }
})

test('a masked target keeps only the target of the previous audit with the same name', async () => {
  const { db, call, people, readOnly, make } = setUp()
  const { body } = await make(CHANNELS)
  const { channels } = (await call('GET', `/v1/audits/${body.id}`, { as: readOnly })).body
  const again = await make(channels)
  expect([again.status, again.body.channels]).toEqual([201, CHANNELS])
  for (const refused of [await make(channels, 'Other'), await make(channels, 'Shop', people.mallory.key)])
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^channels\[0\]\.target: is masked/),
    ])
  expect(db.prepare('SELECT count(*) AS count FROM audit').get()).toEqual({ count: 2 })
})
