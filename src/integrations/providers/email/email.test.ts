import { describe, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import type { SMTPServerOptions } from 'smtp-server'
import { SECOND_MS } from '../../../core/clock.ts'
import { mailbox, smtpRefusal } from '../../../transport/receiver.fixture.ts'
import { groupFixture } from '../../delivery/group.fixture.ts'
import { testKills } from '../../delivery/kill-table.fixture.ts'
import { mail } from '../../delivery/outbox.fixture.ts'

interface Became {
  status: string
  waitMs: number | null
  reason: string | null
}

/** Returns the outcome of one e-mail and the time of the next attempt. */
async function outcomeAt(smtpPort: number | undefined): Promise<Became> {
  const { open, deliver, deliveries, clock } = groupFixture({ timeoutMs: 300, ...(smtpPort ? { smtpPort } : {}) })
  open('iss_1', [mail])
  await deliver()
  const [row] = deliveries()
  if (!row) throw new Error('expected a delivery')
  const waitMs = row.status === 'pending' ? row.dueAt - clock.now() : null
  return { status: row.status, waitMs, reason: row.lastError }
}

const later = (reason: string): Became => ({
  status: 'pending',
  waitMs: 5 * SECOND_MS,
  reason: expect.stringContaining(reason),
})
const lost = (reason: string): Became => ({ status: 'failed', waitMs: null, reason: expect.stringContaining(reason) })

const commands: [string, (code: number) => SMTPServerOptions][] = [
  ['the connection', (code) => ({ onConnect: (_session, done) => done(smtpRefusal(code, 'not now')) })],
  ['the sender', (code) => ({ onMailFrom: (_address, _session, done) => done(smtpRefusal(code, 'not you')) })],
  ['the recipient', (code) => ({ onRcptTo: (_address, _session, done) => done(smtpRefusal(code, 'not them')) })],
]
const codes: [number, typeof later][] = [
  [421, later],
  [450, later],
  [451, later],
  [452, later],
  [500, lost],
  [550, lost],
  [552, lost],
  [553, lost],
  [554, lost],
]

describe('an e-mail that the server rejects', () => {
  for (const [what, refusing] of commands) {
    test.each(codes)(`because of ${what} (code %i) has the expected outcome`, async (code, expected) => {
      await using box = await mailbox(refusing(code))
      expect(await outcomeAt(box.port)).toEqual(expected(`${code}`))
      expect(box.mails).toEqual([])
    })
  }

  test('for only some recipients is delivered with a note', async () => {
    await using box = await mailbox({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('ben') ? smtpRefusal(550, 'gone') : null),
    })
    const { open, deliver, deliveries } = groupFixture({ smtpPort: box.port })
    open('iss_1', [{ type: 'email', target: 'ann@example.com,ben@example.com' }])
    await deliver()
    expect(deliveries()).toMatchObject([{ status: 'delivered', lastError: '1 of 2 addresses rejected' }])
  })
})

/** An SMTP server that sends a greeting and then calls `reply` for each line. */
async function talking(reply: (line: string, socket: Socket) => void, greeting = '220 mail.example ESMTP\r\n') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (greeting !== '') socket.write(greeting)
    socket.on('data', (chunk) => reply(chunk.toString(), socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** Responds normally until `command`, which `at` handles. */
const upTo = (command: string, at: (socket: Socket) => void) => (line: string, socket: Socket) => {
  if (line.startsWith(command)) at(socket)
  else
    socket.write(
      line.startsWith('EHLO') ? '250 mail.example\r\n' : line.startsWith('DATA') ? '354 go\r\n' : '250 ok\r\n',
    )
}

describe('an e-mail whose connection fails', () => {
  test.each([
    ['EHLO', 'EHLO'],
    ['MAIL FROM', 'MAIL FROM'],
    ['RCPT TO', 'RCPT TO'],
    ['DATA', 'DATA'],
  ])('after %s is retried', async (_name, command) => {
    await using server = await talking(upTo(command, (socket) => socket.destroy()))
    expect(await outcomeAt(server.port)).toEqual(later('the mail server'))
  })

  test('before the server sends a greeting is retried', async () => {
    await using server = await talking(() => undefined, '')
    const port = server.port
    await server[Symbol.asyncDispose]()
    expect(await outcomeAt(port)).toEqual(later('cannot be reached'))
  })

  test('because the server speaks another protocol is retried', async () => {
    await using server = await talking((_line, socket) => socket.end(), 'HTTP/1.1 400 Bad Request\r\n\r\n')
    expect((await outcomeAt(server.port)).status).toBe('pending')
  })

  test('because no server is configured is marked as failed', async () => {
    expect(await outcomeAt(undefined)).toEqual(lost('no mail server is configured'))
  })
})

testKills('a mailbox', {
  type: 'email',
  server: () => mailbox(),
  target: () => 'ann@example.com',
  smtpPort: ({ port }) => port,
})
