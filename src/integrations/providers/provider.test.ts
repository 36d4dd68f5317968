import { describe, expect, test } from 'bun:test'
import { addressGuard } from '../../transport/address-guard.ts'
import type { Reply } from '../../transport/transport.ts'
import { checkChannels } from '../channel-targets.ts'
import { type Verdict, verdictOf } from '../delivery-outcome.ts'
import type { OrgFacts } from './channel.ts'
import { mailTargets } from './email/email.ts'

const guard = addressGuard([])

describe('the delivery verdict', () => {
  const retried = [408, 425, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)]
  const everyStatus: [number, Verdict][] = Array.from({ length: 900 }, (_, index) => {
    const status = 100 + index
    if (status >= 200 && status <= 299) return [status, 'delivered']
    return [status, retried.includes(status) ? 'retry' : 'broken']
  })
  const named: [number, Verdict][] = [
    [101, 'broken'],
    [200, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'broken'],
    [301, 'broken'],
    [302, 'broken'],
    [304, 'broken'],
    [307, 'broken'],
    [308, 'broken'],
    [400, 'broken'],
    [401, 'broken'],
    [403, 'broken'],
    [404, 'broken'],
    [405, 'broken'],
    [408, 'retry'],
    [409, 'broken'],
    [410, 'broken'],
    [413, 'broken'],
    [415, 'broken'],
    [422, 'broken'],
    [425, 'retry'],
    [429, 'retry'],
    [451, 'broken'],
    [499, 'broken'],
    [500, 'retry'],
    [501, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
    [599, 'retry'],
    [600, 'broken'],
    [999, 'broken'],
  ]
  const reply = (status: number): Reply => ({ kind: 'status', status, headers: {}, body: '' })

  test.each(named)('for status %i is %s', (status, verdict) => expect(verdictOf(reply(status))).toBe(verdict))
  test('for every status is as specified', () => {
    for (const [status, verdict] of everyStatus) expect([status, verdictOf(reply(status))]).toEqual([status, verdict])
  })
  test.each([
    [true, 'broken'],
    [false, 'retry'],
  ] as const)('for an error depends on its permanent flag: %p', (permanent, verdict) => {
    expect(verdictOf({ kind: 'error', message: '', permanent })).toBe(verdict)
  })
})

describe('e-mail addresses', () => {
  const org: OrgFacts = {
    webhookSecret: () => '',
    ownerAddresses: () => ['alice@example.com'],
    memberAddress: (userId) => (userId === 'usr_bob' ? 'bob@example.com' : null),
  }
  const taken: [string, string[]][] = [
    ['ann@example.com', ['ann@example.com']],
    [' ann@example.com , ben@example.com ', ['ann@example.com', 'ben@example.com']],
    ['ann@example.com,ann@example.com,', ['ann@example.com']],
    ["o'hara+tag@mail.example.co.uk", ["o'hara+tag@mail.example.co.uk"]],
    ['root@localhost', ['root@localhost']],
    ['owners', ['alice@example.com']],
    ['usr_bob', ['bob@example.com']],
  ]
  test.each(taken)('are parsed from %j', (target, to) => expect(mailTargets.settingsOf(target, org)).toEqual({ to }))

  const refused = [
    '',
    ',',
    'ann',
    'owner',
    'owners, ann@example.com',
    'ann@',
    '@example.com',
    'a@b@c',
    'Ann <ann@example.com>',
    'ann@example.com;ben@example.com',
    'ann@example.com\r\nBcc: eve@example.com',
    'ann\n@example.com',
    '"ann"@example.com',
    'ann@exa mple.com',
    'ann@-example.com',
    `${'a'.repeat(65)}@example.com`,
    `ann@${'a.'.repeat(130)}com`,
    Array.from({ length: 51 }, (_, index) => `a${index}@example.com`).join(','),
  ]
  test.each(refused)('are rejected: %j', (target) => {
    expect(() => mailTargets.check(target, guard)).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  test('cannot be `owners` if the organization has no owner', () => {
    expect(() => mailTargets.settingsOf('owners', { ...org, ownerAddresses: () => [] })).toThrow('no owner')
  })
})

describe('alert channels', () => {
  const check = (
    ...channels: { type: 'email' | 'webhook' | 'team_chat' | 'office_chat' | 'issue_tracker'; target: string }[]
  ) => {
    const providerOf = (id: string) => (id === 'int_hook' ? 'webhook' : id === 'int_chat' ? 'team_chat' : null)
    checkChannels(channels, { guard, providerOf })
  }
  const good = { type: 'email', target: 'ann@example.com' } as const

  test('can be e-mail addresses, URLs and integrations', () => {
    check(good, { type: 'email', target: 'owners' })
    check(good, { type: 'webhook', target: 'https://hooks.example.com' }, { type: 'webhook', target: 'int_hook' })
  })

  test.each([
    ['team_chat', 'int_hook', 'channels[1].target: team_chat integration int_hook does not exist'],
    ['team_chat', '#web', 'channels[1].target: must be an https URL'],
    ['office_chat', 'http://x.example', 'channels[1].target: must be an https URL'],
    ['issue_tracker', 'int_x', 'channels[1].target: issue_tracker integration int_x does not exist'],
    ['issue_tracker', 'OPS', 'channels[1].target: must be the id (int_…) of an integration of type issue_tracker'],
    ['email', 'ann', 'channels[1].target: "ann" is not an e-mail address'],
    ['email', 'int_hook', 'channels[1].target: "int_hook" is not an e-mail address'],
    ['email', 'a@b.example, , c@d.example', 'channels[1].target: address 2 of 3 is empty: remove the extra comma'],
    ['email', 'a@b.example,', 'channels[1].target: address 2 of 2 is empty: remove the extra comma'],
    ['email', 'a@b.example,\t', 'channels[1].target: address 2 of 2 is empty: remove the extra comma'],
    ['email', ',a@b.example', 'channels[1].target: address 1 of 2 is empty: remove the extra comma'],
    ['email', 'a@b.example,,', 'channels[1].target: address 2 of 3 is empty: remove the extra comma'],
    ['email', ',', 'channels[1].target: must be one or more comma-separated e-mail addresses'],
    ['email', ' ', 'channels[1].target: must be one or more comma-separated e-mail addresses'],
    ['email', 'a@b.example, c@d.example, a@b.example', 'channels[1].target: "a@b.example" is listed twice'],
    ['email', 'a@b.example,A@B.example', 'channels[1].target: "A@B.example" is listed twice'],
    ['email', 'Owners', 'channels[1].target: "Owners" is not an e-mail address'],
    ['webhook', 'ftp://x.example', 'channels[1].target: must be an https URL'],
    ['webhook', 'https://10.0.0.1', 'channels[1].target: host 10.0.0.1 is a private address'],
    ['webhook', 'int_other', 'channels[1].target: webhook integration int_other does not exist'],
    ['webhook', 'int_chat', 'channels[1].target: webhook integration int_chat does not exist'],
  ] as const)('of type %s with the target %s are rejected', (type, target, message) => {
    expect(() => check(good, { type, target })).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(message) }),
    )
  })
})
