import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { afterActivity, channelIdIn, isKnownService, serviceFor, type TeamsState } from './bot-installations.ts'

const EMPTY: TeamsState = { appId: 'bot', teams: [], channel: null }
const serviceUrl = 'https://smba.trafficmanager.net/amer/'
const BOT_ID = '28:bot'

const activity = (team: string, more: object = {}, data: object = {}) => ({
  type: 'conversationUpdate',
  channelId: 'msteams',
  serviceUrl,
  recipient: { id: BOT_ID },
  conversation: { id: team, conversationType: 'channel' },
  channelData: { team: { id: team, name: `Team ${team}` }, tenant: { id: 'tenant' }, ...data },
  ...more,
})

const after = (...activities: Record<string, unknown>[]) =>
  activities.reduce((state, one) => afterActivity(state, one) ?? state, EMPTY)
const channels = (...activities: Record<string, unknown>[]) => after(...activities).teams[0]?.channels

describe('bot installations', () => {
  const created = (id: string, name?: string) =>
    activity('t1', {}, { eventType: 'channelCreated', channel: { id, ...(name ? { name } : {}) } })

  test('track channel changes', () => {
    const two = [created('c1', 'One'), created('c2', 'Two')]
    expect(channels(...two)).toEqual([
      { id: 'c1', name: 'One' },
      { id: 'c2', name: 'Two' },
    ])
    expect(channels(...two, created('c1'))).toContainEqual({ id: 'c1', name: 'One' })
    expect(channels(...two, created('c1', 'Renamed'))).toContainEqual({ id: 'c1', name: 'Renamed' })
    expect(channels(...two, activity('t1', {}, { eventType: 'channelDeleted', channel: { id: 'c1' } }))).toEqual([
      { id: 'c2', name: 'Two' },
    ])
  })

  test('are updated by an activity, which may omit fields', () => {
    const moved = {
      ...activity('t1', {}, { team: { id: 't1' }, tenant: undefined }),
      serviceUrl: 'https://smba.example/emea/',
    }
    const { teams } = after(activity('t1'), moved)
    expect(teams).toMatchObject([
      { id: 't1', name: 'Team t1', tenantId: 'tenant', serviceUrl: 'https://smba.example/emea/' },
    ])
  })

  test.each<[string, object, object]>([
    ['the bot was removed', { membersRemoved: [{ id: '29:ann' }, { id: BOT_ID }] }, { eventType: 'teamMemberRemoved' }],
    ['the app was uninstalled', { type: 'installationUpdate', action: 'remove' }, {}],
    ['the team was deleted', {}, { eventType: 'teamDeleted' }],
  ])('no longer include a team when %s', (_name, more, data) => {
    expect(after(activity('t1'), activity('t2'), activity('t1', more, data)).teams.map(({ id }) => id)).toEqual(['t2'])
  })

  test('still include a team when another member leaves', () => {
    expect(after(activity('t1'), activity('t1', { membersRemoved: [{ id: '29:ann' }] })).teams).toHaveLength(1)
  })

  test('are limited to 30 teams, which later teams do not replace', () => {
    const many = Array.from({ length: 50 }, (_, index) => activity(`t${index}`))
    expect(after(...many).teams.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, index) => `t${index}`))
  })

  test('fit the size limit of the state after any activities', () => {
    const long = (length: number) =>
      fc.string({ unit: fc.constantFrom('漢', '"', '\\', 'é', 'a', '\u0000'), maxLength: length })
    const said = fc.record({
      type: fc.constant('conversationUpdate'),
      serviceUrl: fc.constant(`https://x.example/${'a'.repeat(280)}`),
      conversation: fc.record({ id: fc.constant('x'.repeat(150)) }),
      channelData: fc.record({
        team: fc.record({ id: fc.integer({ max: 60 }).map((n) => `${n}`.padEnd(150, 'x')), name: long(200) }),
        tenant: fc.record({ id: fc.constant('y'.repeat(150)) }),
        channel: fc.record({ id: fc.integer({ max: 500 }).map((n) => `${n}`.padEnd(150, 'z')), name: long(200) }),
      }),
    })
    fc.assert(
      fc.property(fc.array(said, { minLength: 150, maxLength: 300 }), (all) => {
        expect(Buffer.byteLength(JSON.stringify(after(...all)))).toBeLessThanOrEqual(64 * 1024)
      }),
      { numRuns: 20, endOnFailure: true },
    )
  })

  test('accept any activity without failing', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('type', 'serviceUrl', 'channelData', 'conversation', 'recipient', 'membersRemoved'),
          fc.jsonValue(),
        ),
        (any) => {
          afterActivity(EMPTY, any)
          afterActivity(after(activity('t1')), { ...activity('t1'), ...any })
        },
      ),
    )
  })
})

test('a channel uses the service URL of its team, otherwise that of the first team; other URLs are unknown', () => {
  const other = { ...activity('t2', {}, { channel: { id: 'c2' } }), serviceUrl: 'https://smba.example/emea/' }
  const state = after(activity('t1'), other)
  expect(['t1', 't2', 'c2', 'unknown'].map((id) => serviceFor(state, id))).toEqual([
    serviceUrl,
    'https://smba.example/emea/',
    'https://smba.example/emea/',
    serviceUrl,
  ])
  expect(serviceFor(EMPTY, 't1')).toBeNull()
  expect(
    [serviceUrl, 'https://smba.example/emea/', 'https://smba.example/', `${serviceUrl}x`].map((url) =>
      isKnownService(state, url),
    ),
  ).toEqual([true, true, false, false])
})

test.each([
  [
    'https://teams.microsoft.com/l/channel/19%3Aa%40thread.tacv2/Tag%20alerts?groupId=x&tenantId=y',
    '19:a@thread.tacv2',
  ],
  ['https://gov.teams.microsoft.us/l/channel/19%3aa%40thread.tacv2/x', '19:a@thread.tacv2'],
  ['https://teams.microsoft.com/l/channel/%zz/x', 'https://teams.microsoft.com/l/channel/%zz/x'],
  ['19:a@thread.tacv2', '19:a@thread.tacv2'],
])('parses %s as the channel %s', (text, id) => expect(channelIdIn(text)).toBe(id))
