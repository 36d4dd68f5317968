import { describe, expect, test } from 'bun:test'
import { mailTransport } from './mail-transport.ts'
import { mailbox, smtpRefusal } from './receiver.fixture.ts'
import type { MailOutbound } from './transport.ts'

const never = new AbortController().signal
const from = 'Tagwarden <watch@tagwarden.example>'
const mail: MailOutbound = {
  kind: 'mail',
  to: ['ann@example.com'],
  subject: 'Größe',
  text: 'the text',
  html: '<p>the page</p>',
  messageId: 'dlv_1',
  threadId: 'iss_1',
}

const at = (port: number, login = '') => `smtp://${login}127.0.0.1:${port}`

/** Header lines as an e-mail client reads them, with folded lines joined. */
function headersOf(source: string): string[] {
  const [head = ''] = source.split('\r\n\r\n')
  return head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
}

test('a mail has text and HTML bodies, a stable id and a thread', async () => {
  await using box = await mailbox()
  const send = mailTransport({ smtpUrl: at(box.port), from })
  expect(await send(mail, never)).toEqual({ kind: 'status', status: 250, headers: {}, body: '' })
  expect(await send(mail, never)).toMatchObject({ kind: 'status' })
  const [first, second] = box.mails.map(({ source }) => headersOf(source))
  expect(first).toContain('Message-ID: <dlv_1@tagwarden.example>')
  expect(second).toContain('Message-ID: <dlv_1@tagwarden.example>')
  expect(first).toContain('References: <iss_1@tagwarden.example>')
  expect(first).toContain('Auto-Submitted: auto-generated')
  expect(first).toContain('From: Tagwarden <watch@tagwarden.example>')
  expect(first).toContain('Subject: =?UTF-8?Q?Gr=C3=B6=C3=9Fe?=')
  expect(box.mails[0]).toMatchObject({
    from: 'watch@tagwarden.example',
    to: ['ann@example.com'],
    source: expect.stringMatching(/the text[\s\S]*<p>the page<\/p>/),
  })
})

test('a mail without a thread has no References header', async () => {
  await using box = await mailbox()
  await mailTransport({ smtpUrl: at(box.port), from })({ ...mail, threadId: null }, never)
  expect(headersOf(box.mails[0]?.source ?? '').some((line) => line.startsWith('References'))).toBe(false)
})

test.each(['a\r\nBcc: eve@example.com', 'a\nX-Other: 1', 'a\r\n\r\nbody', 'a\u0000b\u2028c'])(
  "the subject %j can't inject a header",
  async (subject) => {
    await using box = await mailbox()
    await mailTransport({ smtpUrl: at(box.port), from })({ ...mail, subject }, never)
    const names = headersOf(box.mails[0]?.source ?? '').map((line) => line.split(':')[0] ?? '')
    const plain = ['From', 'To', 'References', 'Subject', 'Message-ID', 'Date', 'MIME-Version', 'Auto-Submitted']
    expect(names.toSorted()).toEqual([...plain, 'Content-Type'].toSorted())
    expect(box.mails[0]?.to).toEqual(['ann@example.com'])
  },
)

test('pictures are embedded in the HTML, not attached as downloads', async () => {
  await using box = await mailbox()
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47)
  const page = '<p>the page</p><img src="cid:chart.dlv_1@tagwarden">'
  await mailTransport({ smtpUrl: at(box.port), from })(
    { ...mail, html: page, pictures: [{ id: 'chart.dlv_1@tagwarden', name: 'chart.png', png }] },
    never,
  )
  const source = box.mails[0]?.source ?? ''
  const parts = [...source.matchAll(/^Content-Type: ([a-z]+\/[a-z]+)/gm)].map(([, type]) => type)
  expect(parts).toEqual(['multipart/alternative', 'text/plain', 'multipart/related', 'text/html', 'image/png'])
  expect(source).toContain('Content-ID: <chart.dlv_1@tagwarden>')
  expect(source).toContain('Content-Disposition: inline; filename=chart.png')
  expect(source).toContain(Buffer.from(png).toString('base64'))
})

test("an additional header can't inject further headers", async () => {
  await using box = await mailbox()
  const headers = { 'List-Unsubscribe': '<https://watch.example/u>\r\nBcc: eve@example.com', 'X-A\r\nBcc': 'b' }
  await mailTransport({ smtpUrl: at(box.port), from })({ ...mail, headers }, never)
  const names = headersOf(box.mails[0]?.source ?? '').map((line) => line.split(':')[0]?.toLowerCase() ?? '')
  expect(names).toContain('list-unsubscribe')
  expect(names).not.toContain('bcc')
  expect(box.mails[0]?.to).toEqual(['ann@example.com'])
})

describe('a rejection by the mail server', () => {
  const refusals: [string, number, boolean][] = [
    ['mailbox full', 452, false],
    ['greylisted', 451, false],
    ['unknown user', 550, true],
    ['policy', 554, true],
  ]
  test.each(refusals)('with %s (%i) is permanent: %p', async (text, code, permanent) => {
    await using box = await mailbox({
      onRcptTo: ({ address }, _session, done) => done(smtpRefusal(code, `<${address}>: ${text}`)),
    })
    expect(await mailTransport({ smtpUrl: at(box.port), from })(mail, never)).toEqual({
      kind: 'error',
      message: `the mail server rejected the message: ${code} <…>: ${text}`,
      permanent,
    })
  })

  test('of some addresses is reported, and the other addresses receive the mail', async () => {
    await using box = await mailbox({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('no') ? smtpRefusal(550, 'nobody') : null),
    })
    const reply = await mailTransport({ smtpUrl: at(box.port), from })(
      { ...mail, to: ['nobody@example.com', 'ann@example.com', 'no@example.com'] },
      never,
    )
    expect(reply).toMatchObject({ kind: 'status', status: 250, body: '2 of 3 addresses rejected' })
    expect(box.mails.map(({ to }) => to)).toEqual([['ann@example.com']])
  })

  test('is temporary if it is temporary for any recipient', async () => {
    await using box = await mailbox({
      onRcptTo: ({ address }, _session, done) => done(smtpRefusal(address.startsWith('no') ? 550 : 451, 'not you')),
    })
    const send = mailTransport({ smtpUrl: at(box.port), from })
    expect(await send({ ...mail, to: ['ann@example.com', 'no@example.com'] }, never)).toMatchObject({
      permanent: false,
    })
    expect(await send({ ...mail, to: ['no@example.com', 'ann@example.com'] }, never)).toMatchObject({
      permanent: false,
    })
  })

  test('of the sign-in reveals no credentials', async () => {
    await using box = await mailbox({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error(`${username} ${password}`)),
    })
    const reply = await mailTransport({ smtpUrl: at(box.port, 'me:s3cret@'), from })(mail, never)
    expect(reply).toEqual({ kind: 'error', message: 'the mail server rejected the sign-in: 535', permanent: true })
    expect(await mailTransport({ smtpUrl: at(box.port, 'me:right@'), from })(mail, never)).toMatchObject({
      status: 250,
    })
  })
})

describe('a missing response', () => {
  test('is a temporary error if the server is unreachable', async () => {
    const box = await mailbox()
    await box[Symbol.asyncDispose]()
    const reply = await mailTransport({ smtpUrl: at(box.port, 'me:s3cret@'), from })(mail, never)
    expect(reply).toMatchObject({ kind: 'error', permanent: false })
    expect(reply.kind === 'error' && reply.message).toStartWith('the mail server cannot be reached')
    expect(JSON.stringify(reply)).not.toContain('s3cret')
  })

  test('is a temporary error after the timeout', async () => {
    await using box = await mailbox({ onConnect: () => undefined })
    const reply = await mailTransport({ smtpUrl: at(box.port), from, timeoutMs: 50 })(mail, never)
    const message = 'the mail server did not respond within 0.05 s'
    expect(reply).toEqual({ kind: 'error', message, permanent: false, hung: true })
  })

  test('is a temporary error if the server shuts down first', async () => {
    const stop = new AbortController()
    await using box = await mailbox({ onConnect: () => stop.abort() })
    const reply = await mailTransport({ smtpUrl: at(box.port), from, timeoutMs: 1000 })(mail, stop.signal)
    expect(reply).toEqual({ kind: 'error', message: 'stopped before a response was received', permanent: false })
  })
})

test.each([null, ''])('without a mail server (%j), every mail fails permanently', async (smtpUrl) => {
  expect(await mailTransport({ smtpUrl, from })(mail, never)).toEqual({
    kind: 'error',
    message: 'no mail server is configured (TAGWARDEN_SMTP_URL)',
    permanent: true,
  })
})

test.each(['mail.example.com', 'http://mail.example.com', 'smtp://', 'me:s3cret@mail'])(
  'the SMTP URL %s is rejected',
  (smtpUrl) => {
    const make = () => mailTransport({ smtpUrl, from })
    expect(make).toThrow('TAGWARDEN_SMTP_URL: must be smtp://')
    expect(make).not.toThrow('s3cret')
  },
)
