import { describe, expect, test } from 'bun:test'
import { hideCredentials, isCredential } from './detect-credentials.ts'

describe('detection of credential keys', () => {
  test.each([
    'access_token',
    'accessToken',
    'ACCESS-TOKEN',
    'access_token.1',
    'cd[access_token]',
    'ep.refresh_token',
    'api_secret',
    'apiSecret',
    'api_key',
    'apiKey',
    'apikey',
    'X-Api-Key',
    'headers.x-api-key',
    'dd-api-key',
    'token_auth',
    'authorization',
    'Proxy-Authorization',
    'headers.0.Authorization',
    'auth',
    'request.auth',
    'client_secret',
    'clientSecret',
    'secret',
    'secretKey',
    'appsecret_proof',
    'oauth_token_secret',
    'password',
    'user_password',
    'newPassword',
    'passwd',
    'pwd',
    'passphrase',
    'private_key',
    'privateKey',
    'id_token',
    'session_token',
    'X-Auth-Token',
    'jwt',
    'bearer',
    'credentials',
    'headers.Cookie',
    'Set-Cookie',
    'AWSAccessKeyId',
    'aws_secret_access_key',
    'X-Amz-Signature',
    'x-goog-api-key',
    'Ocp-Apim-Subscription-Key',
  ])('recognizes %s', (key) => {
    expect(isCredential(key, 'k7Qz')).toBe(true)
  })

  test.each([
    'token',
    'writeKey',
    'key',
    'keyword',
    'author',
    'authority',
    'auth_type',
    'two_factor_auth',
    'compass',
    'password_strength',
    'passwordHint',
    'secretary',
    'access_token_expires',
    'token_type',
    'cookie',
    'cookieEnabled',
    'pass',
    'monkey',
    'hotkey',
    'tid',
    'pid',
    'sessionid',
    'visitor_id',
    'ep.method',
    'currency',
    'items.0.id',
  ])('ignores %s', (key) => {
    expect(isCredential(key, 'k7Qz')).toBe(false)
  })

  test.each(['', 'true', 'false', 'null', '0', '1'])(
    'ignores the value %p, which only indicates whether a credential exists',
    (value) => {
      expect(isCredential('password', value)).toBe(false)
    },
  )
})

describe('hiding credentials in a string', () => {
  test.each([
    ['https://shop.example/r?access_token=k7Qz&x=1#y', 'https://shop.example/r?access_token=***&x=1#y'],
    ['https://shop.example/#id_token=k7Qz.a-b_c', 'https://shop.example/#id_token=***'],
    ['password=a%20b%21&token=public', 'password=***&token=public'],
    [
      'https%3A%2F%2Fshop.example%2F%3Fapi_key%3Dk7%252FQz%26x%3D1',
      'https%3A%2F%2Fshop.example%2F%3Fapi_key%3D***%26x%3D1',
    ],
    ['u=%252F%253Fapi_key%253Dk7Qz%2526x%253D1', 'u=%252F%253Fapi_key%253D***%2526x%253D1'],
    ['{"password":"hunter 2, \\"x\\"","a":1}', '{"password":"***","a":1}'],
    ['{"user":{"passcode": 123456},"a":1}', '{"user":{"passcode":"***"},"a":1}'],
    ['{"user":{"passcode": 123456},"a":', '{"user":{"passcode": "***"},"a":'],
    [
      '[{"password":{"new":["k7Qz"]}},{"name":"X-Api-Key","value":"k7Qz"}]',
      '[{"password":"***"},{"name":"X-Api-Key","value":"***"}]',
    ],
    ['{"body":"{\\"api_key\\":\\"k7Qz\\",\\"a\\":1}"}', '{"body":"{\\"api_key\\":\\"***\\",\\"a\\":1}"}'],
    ['%7B%22client_secret%22%3A%22k7%20Qz%22%2C%22a%22%3A1%7D', '%7B%22client_secret%22%3A%22***%22%2C%22a%22%3A1%7D'],
    ['{"headers":{"Authorization":"Bearer k7Qz"}}', '{"headers":{"Authorization":"***"}}'],
  ])('masks %s', (text, shown) => {
    expect(hideCredentials(text)).toBe(shown)
  })

  test.each([
    'https://shop.example/forgot-password?step=2',
    'https://shop.example/?keyword=secret%20santa&cookie=1',
    '{"hasPassword":true,"password":null,"secret":false,"token":"public"}',
    'Enter your password: at least 8 characters, "auth" included = good',
    'password=1&secret=true',
  ])('leaves a string without credentials unchanged: %s', (text) => {
    expect(hideCredentials(text)).toBe(text)
  })

  test('takes linear time', () => {
    const startedAt = performance.now()
    for (const part of [
      'password"',
      'password%22',
      'a_token=',
      '%25',
      '\\',
      '"',
      'secret": "',
      'secret\\\\":\\"',
      ' ',
    ]) {
      hideCredentials(`secret${part.repeat(400_000 / part.length)}`)
    }
    // A pattern with quadratic run time would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})
