import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { withinQuota } from '../integrations/context/call-quota.ts'
import { tagManagerFixture } from './google-tag-manager.fixture.ts'
import { CONTAINER, KEY_FILE, OAUTH } from './google-tag-manager-server.fixture.ts'
import { parseJsonExactly } from './tag-manager-api.ts'
import type { Tag } from './tag-manager-entities.ts'
import { withReportMetadata } from './tagwarden-entities.ts'

describe('the list of tags', () => {
  test('contains readable types, the Tagwarden tag and all variables', async () => {
    await using env = tagManagerFixture()
    const { server } = env
    server.behaviour.quota = 10_000
    server.behaviour.pageSize = 2
    const { connect, deploy, list } = env.start({ callsPerMinute: 60_000 })
    await connect()
    server.give('templates', { name: 'Chat', templateData: '', galleryReference: { galleryTemplateId: 'ABC12' } })
    const own = server.give('templates', { name: 'Counter', templateData: '' })
    const html = { type: 'template', key: 'html', value: '<b>' }
    const listed = { type: 'list', key: 'x', list: [{ type: 'template', value: '1' }] }
    server.give('tags', { name: 'A', type: 'html', parameter: [html, listed], paused: true })
    server.give('tags', { name: 'B', type: 'cvt_ABC12' })
    server.give('tags', { name: 'C', type: `cvt_71_${own}` })
    server.give('tags', { name: 'D', type: 'not_known' })
    for (const name of ['One', 'Two', 'Three']) server.give('variables', { name, type: 'v' })
    expect((await list()).body.workspaceName).toBe('Default Workspace')
    await deploy()
    const { body } = await list()
    expect(body.workspaceName).toBe('Tagwarden')
    const shown = body.tags.map((tag: Record<string, unknown>) => [
      tag.name,
      tag.displayType,
      tag.paused,
      tag.isService,
    ])
    expect(shown).toEqual([
      ['A', 'Custom HTML', true, false],
      ['B', 'Chat', false, false],
      ['C', 'Counter', false, false],
      ['D', 'not_known', false, false],
      ['Monitoring Tag', 'Tagwarden', false, true],
    ])
    expect(body.tags[0].parameters).toEqual([
      { value: '<b>', type: 'template' },
      { value: '[{"type":"template","value":"1"}]', type: 'list' },
    ])
    expect(body.variables.map(({ name }: { name: string }) => name)).toEqual(['One', 'Two', 'Three', 'Page URL'])
  })

  test('is rejected for an invalid container path', async () => {
    await using env = tagManagerFixture()
    const { call, connect, ada } = env.start()
    await connect()
    for (const path of ['', 'accounts/1/containers/x', `${CONTAINER}/workspaces/2`, 'accounts/1/../containers/1']) {
      const answer = await call('GET', `/v1/integrations/tag_manager/tags?containerPath=${path}`, { as: ada.key })
      expect([path, answer.status]).toEqual([path, 400])
    }
  })
})

describe('the Tag Manager configuration', () => {
  const { private_key: _, ...keyless } = KEY_FILE
  test.each<[string, object, string]>([
    ['an empty configuration', {}, 'config.serviceAccount: is required unless clientId'],
    ['a key file without a key', { serviceAccount: keyless }, 'config.serviceAccount.private_key: is missing'],
    [
      'an invalid key',
      { serviceAccount: { ...KEY_FILE, private_key: 'Z29vZA==' } },
      'config.serviceAccount.private_key: is not an RSA key in PEM',
    ],
    ['a client id alone', { clientId: 'c' }, 'config.clientSecret: is missing'],
    ['both kinds of credentials', { serviceAccount: KEY_FILE, ...OAUTH }, "config.serviceAccount: can't be combined"],
    ['an unknown field', { ...OAUTH, url: 'https://x.example' }, 'config.url: there is no such field'],
  ])('is rejected with 400 and the name of the field (%s)', async (_what, config, begins) => {
    await using env = tagManagerFixture()
    const { status, body } = await env.start().connect(config)
    expect([status, String(body.error).slice(0, begins.length)]).toEqual([400, begins])
  })

  test('is limited to one per organization, keeps omitted secrets, and allows changing the sign-in method', async () => {
    await using env = tagManagerFixture()
    const { connect, call, ada, people } = env.start()
    const { body } = await connect()
    expect(body).toMatchObject({ status: 'connected', config: {} })
    expect((await connect()).status).toBe(409)
    const mine = { as: people.mallory.key, body: { provider: 'tag_manager', config: OAUTH } }
    expect((await call('POST', '/v1/integrations', mine)).status).toBe(201)
    const put = (config: object) =>
      call('PUT', `/v1/integrations/${body.id}`, { as: ada.key, body: { provider: 'tag_manager', config } })
    expect((await put({})).body.config).toEqual({})
    expect((await put(OAUTH)).body.config).toEqual({ clientId: OAUTH.clientId })
    expect((await put({ clientId: 'other' })).body.config).toEqual({ clientId: 'other' })
    expect((await put({ serviceAccount: KEY_FILE })).body.config).toEqual({})
  })
})

test('JSON is serialized exactly as it was parsed', () => {
  const number = fc.constantFrom('1.0', '-0', '12345678901234567890', '1e400', '0.10', '1E5', '7', '-1.5')
  const text = fc.oneof(
    number,
    fc.string().map((one) => JSON.stringify(one)),
    fc.array(number).map((all) => `[${all.join(',')}]`),
    fc.array(number).map((all) => `{${all.map((one, index) => `"k${index}":{"n":${one},"__proto__":1}`).join(',')}}`),
  )
  fc.assert(fc.property(text, (json) => expect(JSON.stringify(parseJsonExactly(json))).toBe(json)))
})

test('metadata set by other users is preserved, and an unchanged tag is not written again', () => {
  const key = fc.constantFrom('a', 'b', 'team', 'Page URL')
  const entry = fc.record({
    type: fc.constantFrom('template', 'boolean'),
    key,
    value: fc.constantFrom('{{a}}', 'x', '{{b}}'),
  })
  const names = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'Page URL'))
  const base = { path: 'p', name: 'Tag', fingerprint: '1', tagId: '1', type: 'html' }
  fc.assert(
    fc.property(fc.uniqueArray(entry, { selector: (one) => one.key }), names, (map, wanted) => {
      const tag: Tag = map.length > 0 ? { ...base, monitoringMetadata: { type: 'map', map } } : base
      const after = withReportMetadata(tag, wanted) ?? tag
      expect(withReportMetadata(after, wanted)).toBeNull()
      const present = after.monitoringMetadata?.map ?? []
      expect(wanted.every((name) => present.some((one) => one.key === name && one.value === `{{${name}}}`))).toBe(true)
      const others = map.filter((one) => !wanted.includes(one.key) && one.value !== `{{${one.key}}}`)
      expect(present.filter((one) => !wanted.includes(one.key ?? ''))).toEqual(others)
    }),
  )
})

test('the quota is never exceeded in any window, for any sequence of calls and across restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 40 }), async (pauses) => {
      const db = memoryDb()
      const clock = testClock()
      const times: number[] = []
      const { signal } = new AbortController()
      for (const pause of pauses) {
        clock.advance(pause)
        // Simulates a restart: only stored data remains.
        await withinQuota(
          { db, clock, provider: 'tag_manager', orgId: 'org_1' },
          { calls: 5, windowMs: 100_000 },
          {
            signal,
            call: async () => void times.push(clock.now()),
            waits: (until) => until !== null && clock.set(until),
          },
        )
      }
      for (const at of times) {
        expect(times.filter((one) => one >= at && one < at + 100_000).length).toBeLessThanOrEqual(5)
      }
      db.close()
    }),
    { numRuns: 15 },
  )
})

test('the quota is shared by all organizations', async () => {
  await using env = tagManagerFixture()
  const { connect, call, people, deploy, passing, list } = env.start()
  await connect()
  await call('POST', '/v1/integrations', { as: people.mallory.key, body: { provider: 'tag_manager', config: OAUTH } })
  const path = `/v1/integrations/tag_manager/tags?containerPath=${CONTAINER}`
  const theirs = () => call('GET', path, { as: people.mallory.key })
  await passing(Promise.all([deploy(), ...Array.from({ length: 6 }, theirs), list()]))
  await passing(Promise.all([theirs(), list(), deploy()]))
  const { asked } = env.server
  expect(asked.filter(({ status }) => status !== 200)).toEqual([])
  const most = Math.max(...asked.map(({ at }) => asked.filter((one) => one.at >= at && one.at < at + 100_000).length))
  expect(most).toBeLessThanOrEqual(25)
})
