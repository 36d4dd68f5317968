import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { oidcProvider } from '../../src/org/oidc.ts'
import { addressGuard } from '../../src/transport/address-guard.ts'
import { httpTransport } from '../../src/transport/http-transport.ts'
import { mailTransport } from '../../src/transport/mail-transport.ts'
import { operatorFetch } from '../../src/transport/operator-fetch.ts'
import { mailbox } from '../../src/transport/receiver.fixture.ts'
import { trustedWith } from '../../src/transport/trusted-certificates.ts'
import { webSockets } from '../../src/transport/web-socket.ts'
import { canCertify, type PrivateAuthority, privateAuthority } from './certificates.fixture.ts'

/*
 * Outbound requests trust the certificate authorities in the file TAGWARDEN_OUTBOUND_CA in addition to those of the
 * system. This applies to integrations, mail and single sign-on.
 */

describe.skipIf(!canCertify)('a private certificate authority', () => {
  let authority: PrivateAuthority
  let key = ''
  let cert = ''
  let web: ReturnType<typeof Bun.serve>
  const file = (name: string) => authority.file(name)
  const signal = new AbortController().signal
  const configured = () => readConfig({}, { TAGWARDEN_OUTBOUND_CA: file('ca.pem') }).outboundCa

  beforeAll(() => {
    authority = privateAuthority()
    key = authority.key
    cert = authority.cert
    web = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { key, cert },
      fetch(request, server) {
        const { url } = request
        if (server.upgrade(request, { data: undefined })) return
        const issuer = new URL(url).origin
        const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
        return Response.json({ issuer, ...endpoints, jwks_uri: `${issuer}/keys`, response_types_supported: ['code'] })
      },
      websocket: { message: (socket, text) => void (text === 'bye' ? socket.terminate() : socket.send(text)) },
    })
  })
  afterAll(async () => {
    await web.stop(true)
    authority[Symbol.dispose]()
  })

  test('is trusted by integration requests', async () => {
    const send = (ca: string) =>
      httpTransport({ guard: addressGuard(['127.0.0.1']), ca })(
        { kind: 'http', method: 'GET', url: `https://127.0.0.1:${web.port}/`, headers: {}, body: '' },
        signal,
      )
    expect(await send(configured())).toMatchObject({ kind: 'status', status: 200 })
    expect(await send('')).toMatchObject({ kind: 'error', message: expect.stringContaining('UNABLE_TO_VERIFY') })
  })

  test('is trusted by persistent connections', async () => {
    const open = (ca: string) =>
      webSockets({ guard: addressGuard(['127.0.0.1']), ca })(`wss://127.0.0.1:${web.port}/link`, signal)
    const line = await open(configured())
    line.send('hello')
    const said: string[] = []
    const hear = async () => {
      for await (const text of line) {
        said.push(text)
        line.send('bye')
      }
    }
    await expect(hear()).rejects.toThrow('the connection')
    expect(said).toEqual(['hello'])
    await expect(open('')).rejects.toThrow('UNABLE_TO_VERIFY')
  })

  test('is trusted for outgoing mail', async () => {
    await using box = await mailbox({ secure: true, key, cert })
    const letter = { to: ['ann@example.com'], subject: 'a', text: 'b', html: 'c', messageId: 'd', threadId: null }
    const send = (ca: string) =>
      mailTransport({ smtpUrl: `smtps://127.0.0.1:${box.port}`, from: 'watch@tagwarden.example', ca })(
        { kind: 'mail', ...letter },
        signal,
      )
    expect(await send(configured())).toMatchObject({ kind: 'status', status: 250 })
    expect(await send('')).toMatchObject({ kind: 'error' })
    expect(box.mails).toHaveLength(1)
  })

  test('is trusted for single sign-on', async () => {
    const issuer = `https://127.0.0.1:${web.port}`
    const begin = (ca: string) => {
      const settings = { clientId: 'a', clientSecret: '', name: 'us', groupsClaim: 'groups', roles: [], orgId: null }
      const parts = { clock: systemClock, warn: () => undefined, request: operatorFetch({ proxy: '', ca }) }
      return oidcProvider({ issuer, ...settings }, parts).begin('https://watch.example/back')
    }
    expect((await begin(configured())).url.origin).toBe(issuer)
    expect(begin('')).rejects.toThrow('cannot be reached')
  })

  test('is added to the default certificate authorities', () => {
    const all = trustedWith(configured())
    expect(all.length).toBeGreaterThan(100)
    expect(all.at(-1)).toBe(readFileSync(file('ca.pem'), 'utf8').trim())
  })

  test.each([
    ['that does not exist', () => file('none.pem'), 'does not exist'],
    ['without a certificate', () => file('names'), 'contains no certificate'],
    [
      'with a damaged certificate',
      () => {
        writeFileSync(file('damaged.pem'), `${cert}\n-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----\n`)
        return file('damaged.pem')
      },
      'contains an invalid certificate (number 2)',
    ],
  ])('in a file %s aborts startup', (_name, path, message) => {
    expect(() => readConfig({}, { TAGWARDEN_OUTBOUND_CA: path() })).toThrow(
      expect.objectContaining({ name: 'SettingError', message: expect.stringContaining(message) }),
    )
  })
})
