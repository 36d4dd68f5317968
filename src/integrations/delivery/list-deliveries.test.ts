import { describe, expect, test } from 'bun:test'
import { type Caller, client, credentialsOf } from '../../../test/fixtures.ts'
import { sealTarget } from '../../alerts/encrypt-channel-target.ts'
import { HOUR_MS } from '../../core/clock.ts'
import { outboxFixture } from './outbox.fixture.ts'
import { deliveryRoutes } from './routes.ts'

const SECRET_URL = 'https://hooks.slack.com/services/T1/B1/very-secret'

function setUp() {
  const world = outboxFixture()
  const { box, clock, people, issue, tell, db } = world
  const call = client(world, ...deliveryRoutes(world))
  const keys = credentialsOf(people)
  const get = (path: string, caller: Caller = 'member') =>
    call('GET', `/v1/notifications/${path}`, { as: keys[caller] })
  const begun = clock.now()
  const slack = { type: 'team_chat', target: sealTarget(box, SECRET_URL) } as const
  tell('opened', issue('iss_1', 'alr_1'), { channels: [{ type: 'email', target: 'ann@a.example,ben@a.example' }] })
  clock.advance(HOUR_MS)
  tell('opened', issue('iss_2', 'alr_2'), { channels: [slack] })
  clock.advance(HOUR_MS)
  tell('opened', issue('iss_3', 'alr_3'), { channels: [{ type: 'issue_tracker', target: 'int_1:OPS' }] })
  tell('opened', issue('iss_4', 'alr_3'), { channels: [{ type: 'webhook', target: 'int_12' }] })
  db.prepare(`UPDATE delivery SET status = 'failed' WHERE issueId = 'iss_2'`).run()
  const list = async (query: string): Promise<string[]> => {
    const { status, body } = await get(`deliveries?${query}`)
    expect(status).toBe(200)
    return body.deliveries.map(({ issueId }: { issueId: string }) => issueId).sort()
  }
  return { ...world, get, list, begun }
}

describe('the list of deliveries', () => {
  const { list, begun, get } = setUp()

  test.each<[string, string, string[]]>([
    ['nothing', '', ['iss_1', 'iss_2', 'iss_3', 'iss_4']],
    ['a type of channel', 'channelType=email', ['iss_1']],
    ['several types', 'channelType=email,team_chat', ['iss_1', 'iss_2']],
    ['e-mail addresses', 'channel=ann@a.example;ben@a.example', ['iss_1']],
    ['an integration with its details', 'channel=int_1', ['iss_3']],
    ['one detail', 'channel=int_1:OPS', ['iss_3']],
    ['another detail', 'channel=int_1:DEV', []],
    ['several channels', 'channel=int_12,int_1', ['iss_3', 'iss_4']],
    ['the beginning of a target', 'channel=ann', []],
    ['an alert', 'alertId=alr_3', ['iss_3', 'iss_4']],
    ['several alerts', 'alertId=alr_1,alr_2', ['iss_1', 'iss_2']],
    ['several statuses', 'status=failed,delivered', ['iss_2']],
    ['a start', `from=${begun + HOUR_MS}`, ['iss_2', 'iss_3', 'iss_4']],
    ['an end', `to=${begun + HOUR_MS}`, ['iss_1']],
    [
      'all filters',
      `from=${begun}&to=${begun + 3 * HOUR_MS}&status=pending&alertId=alr_3&channelType=webhook`,
      ['iss_4'],
    ],
  ])('is filtered by %s', async (_name, query, issues) => {
    expect(await list(query)).toEqual(issues)
  })

  test('is filtered by a URL through its masked form, which the list of channels contains', async () => {
    const { channels } = (await get('channels')).body
    const slack = channels.find(({ type }: { type: string }) => type === 'team_chat')
    expect(slack).toEqual({ id: expect.stringMatching(/\/\*{3}[\w-]{8}$/), type: 'team_chat', target: SECRET_URL })
    expect(await list(`channel=${encodeURIComponent(slack.id)}`)).toEqual(['iss_2'])
    expect(await list(`channel=${encodeURIComponent('https://hooks.slack.com/***aaaaaaaa')}`)).toEqual([])
  })

  test.each(['status=lost', 'channelType=fax', 'from=x', `from=${begun}&to=${begun}`])('rejects %s', async (query) => {
    const { status, body } = await get(`deliveries?${query}`)
    expect([status, body.error]).toEqual([400, expect.stringContaining('query.')])
  })

  test('cannot be filtered by channel by viewers, who do not see the channels either', async () => {
    for (const caller of ['viewer', 'readOnly'] as const) {
      expect((await get('deliveries?channel=int_1', caller)).status).toBe(403)
      expect((await get('channels', caller)).status).toBe(403)
      expect((await get('deliveries?channelType=email', caller)).body.deliveries).toMatchObject([
        { channel: { type: 'email', target: '' } },
      ])
    }
  })

  test('shows nothing of other organizations', async () => {
    expect((await get('channels', 'otherOrg')).body).toEqual({ channels: [] })
    expect((await get('deliveries?channel=int_1', 'otherOrg')).body.deliveries).toEqual([])
  })
})

test('the list of channels has each channel once, however many deliveries it has', async () => {
  const { get, tell } = setUp()
  for (let n = 0; n < 20; n++) tell('repeated', 'iss_4', { channels: [{ type: 'webhook', target: 'int_12' }] })
  const { channels } = (await get('channels')).body
  expect(channels.map(({ id }: { id: string }) => id)).toEqual([
    'ann@a.example;ben@a.example',
    'int_12',
    'int_1:OPS',
    expect.stringContaining('https://hooks.slack.com/***'),
  ])
})
