import { expect, test } from 'bun:test'
import { oauthCookie, redirect } from './oauth-cookie.ts'

const cookie = oauthCookie('begun', '/v1/there')

test.each([
  ['https://tags.example', 'begun=a-b_1; Path=/v1/there; Max-Age=600; HttpOnly; SameSite=Lax; Secure'],
  ['http://localhost:8080', 'begun=a-b_1; Path=/v1/there; Max-Age=600; HttpOnly; SameSite=Lax'],
  ['https://company.example/tags/', 'begun=a-b_1; Path=/tags/v1/there; Max-Age=600; HttpOnly; SameSite=Lax; Secure'],
])('the cookie set at %s', (publicUrl, header) => expect(cookie.set(publicUrl, 'a-b_1', 600_000)).toBe(header))

test.each<[string | null, string | null]>([
  [null, null],
  ['', null],
  ['begun=a-b_1', 'a-b_1'],
  ['other=1; begun=a; more=2', 'a'],
  ['notbegun=a', null],
])('from the cookies %j the value read is %j', (header, value) => {
  const headers: Record<string, string> = header === null ? {} : { cookie: header }
  expect(cookie.read(new Request('https://tags.example', { headers }))).toBe(value)
})

test('a redirect is not cached and sends no referrer', () => {
  const { status, headers } = redirect(303, 'https://tags.example/#done', 'begun=; Max-Age=0')
  expect(status).toBe(303)
  expect(Object.fromEntries(headers)).toMatchObject({
    location: 'https://tags.example/#done',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  expect(headers.getSetCookie()).toEqual(['begun=; Max-Age=0'])
})
