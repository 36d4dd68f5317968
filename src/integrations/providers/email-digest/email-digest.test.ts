import { expect, test } from 'bun:test'
import type { MailOutbound, Outbound, Reply } from '../../transport/transport.ts'
import { emailDigest } from './email-digest.ts'

const ACCEPTED: Reply = { kind: 'status', status: 250, headers: {}, body: '' }
const REFUSED: Reply = { kind: 'error', message: 'the mail server refused: 550', permanent: true }
const DOWN: Reply = { kind: 'error', message: 'the mail server cannot be reached', permanent: false }

/** Tests a digest to these addresses; each is answered in its turn. */
async function tried(to: string[], answers: Reply[] = []) {
  const mails: MailOutbound[] = []
  const context = {
    settings: { to, hourUtc: 7, context: '' },
    now: () => 0,
    send: async (outbound: Outbound) => answers[mails.push(outbound as MailOutbound) - 1] ?? ACCEPTED,
  }
  const outcome = await emailDigest.test?.(context as never)
  return { outcome, sentTo: mails.map(({ to }) => to) }
}

test('a test of a digest shows no address to the others', async () => {
  const { outcome, sentTo } = await tried(['ann@example.com', 'bob@example.org'])
  expect(sentTo).toEqual([['ann@example.com'], ['bob@example.org']])
  expect(outcome).toEqual({ verdict: 'delivered', note: null })
})

test('one that was refused is counted, and one that all refused has failed', async () => {
  const to = ['ann@example.com', 'bob@example.org']
  expect((await tried(to, [REFUSED])).outcome).toEqual({ verdict: 'delivered', note: '1 of 2 addresses refused' })
  expect((await tried(to, [REFUSED, REFUSED])).outcome).toEqual({
    verdict: 'broken',
    reason: 'the mail server refused: 550',
  })
})

test('a mail server that is down is asked once, and without addresses not at all', async () => {
  const { outcome, sentTo } = await tried(['ann@example.com', 'bob@example.org'], [DOWN])
  expect([outcome?.verdict, sentTo.length]).toEqual(['retry', 1])
  expect((await tried([])).outcome).toMatchObject({ verdict: 'broken' })
})
