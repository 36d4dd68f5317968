import { expect, test } from 'bun:test'
import { addressGuard } from '../transport/address-guard.ts'
import type { MailOutbound, Outbound, Reply } from '../transport/transport.ts'
import { emailDigest } from './email-digest.ts'

const ACCEPTED: Reply = { kind: 'status', status: 250, headers: {}, body: '' }
const REFUSED: Reply = { kind: 'error', message: 'the mail server rejected the message: 550', permanent: true }
const DOWN: Reply = { kind: 'error', message: 'the mail server cannot be reached', permanent: false }

/** Sends a test digest to these e-mail addresses. The mail server returns the given replies in order. */
async function tried(to: string[], answers: Reply[] = []) {
  const mails: MailOutbound[] = []
  const context = {
    settings: { to, hourUtc: 7, context: '' },
    now: () => 0,
    send: async (outbound: Outbound) => answers[mails.push(outbound as MailOutbound) - 1] ?? ACCEPTED,
  }
  const outcome = emailDigest.notifies ? undefined : await emailDigest.test(context as never)
  return { outcome, sentTo: mails.map(({ to }) => to) }
}

test('a test digest does not show recipients to each other', async () => {
  const { outcome, sentTo } = await tried(['ann@example.com', 'bob@example.org'])
  expect(sentTo).toEqual([['ann@example.com'], ['bob@example.org']])
  expect(outcome).toEqual({ verdict: 'delivered', note: null })
})

test('rejected addresses are counted, and the test fails if all are rejected', async () => {
  const to = ['ann@example.com', 'bob@example.org']
  expect((await tried(to, [REFUSED])).outcome).toEqual({ verdict: 'delivered', note: '1 of 2 addresses rejected' })
  expect((await tried(to, [REFUSED, REFUSED])).outcome).toEqual({
    verdict: 'broken',
    reason: 'the mail server rejected the message: 550',
  })
})

test('an unavailable mail server is tried only once, and not at all without recipients', async () => {
  const { outcome, sentTo } = await tried(['ann@example.com', 'bob@example.org'], [DOWN])
  expect([outcome?.verdict, sentTo.length]).toEqual(['retry', 1])
  expect((await tried([])).outcome).toMatchObject({ verdict: 'broken' })
})

test('recipients are required', () => {
  const prepare = (config: object) => emailDigest.configuration.prepare(config, addressGuard([]), config)
  expect(() => prepare({})).toThrow('config.to: is missing')
  expect(prepare({ to: ['ann@example.com'], hourUtc: 7 })).toEqual({ to: ['ann@example.com'], hourUtc: 7, context: '' })
})
