import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressGuard, type Resolve, systemResolve } from './address-guard.ts'

const strict = addressGuard([])

/** Returns the normalised URL or the error message. */
function check(url: string, allow: string[] = []): string {
  try {
    return addressGuard(allow).checkUrl(url).href
  } catch (error) {
    return `refused: ${(error as Error).message}`
  }
}

/** A resolver that knows these names. */
const resolver =
  (names: Record<string, string[]>): Resolve =>
  async (host) => {
    const addresses = names[host]
    if (!addresses) throw new Error('ENOTFOUND')
    return addresses
  }

describe('URL validation', () => {
  const allowed: [string, string][] = [
    ['https://hooks.example.com/a?b=c', 'https://hooks.example.com/a?b=c'],
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://hooks.example.com./x', 'https://hooks.example.com/x'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com/'],
    ['https://hooks.example.com:80/', 'https://hooks.example.com:80/'],
    ['https://hooks.example.com:1024/', 'https://hooks.example.com:1024/'],
    ['https://hooks.example.com:65535/', 'https://hooks.example.com:65535/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ]
  test.each(allowed)('accepts %s as %s', (url, href) => expect(check(url)).toBe(href))

  const https = 'must be an https URL'
  const spaces = 'must be a URL without spaces'
  const user = 'must not contain a user name or password'
  const refused: [string, string][] = [
    ['', https],
    ['hooks.example.com', https],
    ['//hooks.example.com', https],
    ['ftp://hooks.example.com', https],
    ['file:///etc/passwd', https],
    ['javascript:alert(1)', https],
    ['https://', https],
    ['https://./', https],
    ['https://example..', https],
    ['https://256.1.1.1/', https],
    ['http://hooks.example.com/', https],
    ['https://hooks.example.com/a b', spaces],
    [' https://hooks.example.com/', spaces],
    ['https://hooks.example.com/\n', spaces],
    ['https://hooks.exa\tmple.com/', spaces],
    ['https://hooks.example.com/\u0000', spaces],
    ['https://me@hooks.example.com/', user],
    ['https://me:pass@hooks.example.com/', user],
    ['https://hooks.example.com@127.0.0.1/', user],
    ['https://hooks.example.com:22/', 'port 22 is not allowed'],
    ['https://hooks.example.com:0/', 'port 0 is not allowed'],
    ['https://hooks.example.com:1023/', 'port 1023 is not allowed'],
    [`https://hooks.example.com/${'x'.repeat(2000)}`, 'at most 2000 characters'],
  ]
  test.each(refused)('rejects %j', (url, reason) => {
    const answer = check(url)
    expect(answer).toStartWith('refused: ')
    expect(answer).toContain(reason)
  })

  const tricks: [string, string][] = [
    ['https://127.0.0.1/', 'loopback'],
    ['https://127.0.0.1./', 'loopback'],
    ['https://127.1/', 'loopback'],
    ['https://127.0.1/', 'loopback'],
    ['https://2130706433/', 'loopback'],
    ['https://0177.0.0.1/', 'loopback'],
    ['https://00000177.1/', 'loopback'],
    ['https://0x7f.1/', 'loopback'],
    ['https://0x7f000001/', 'loopback'],
    ['https://0X7F.0.0.0x1/', 'loopback'],
    ['https://%31%32%37.0.0.1/', 'loopback'],
    ['https://１２７.0.0.1/', 'loopback'],
    ['https://①②⑦.0.0.1/', 'loopback'],
    ['https://127。0。0。1/', 'loopback'],
    ['https://[::1]/', 'loopback'],
    ['https://[0:0:0:0:0:0:0:1]/', 'loopback'],
    ['https://[::ffff:127.0.0.1]/', 'loopback'],
    ['https://[::ffff:7f00:1]/', 'loopback'],
    ['https://[0:0:0:0:0:ffff:127.0.0.1]/', 'loopback'],
    ['https://[::127.0.0.1]/', 'loopback'],
    ['https://[64:ff9b::127.0.0.1]/', 'loopback'],
    ['https://[2002:7f00:1::]/', 'loopback'],
    ['https://0/', 'unspecified'],
    ['https://0.0.0.0/', 'unspecified'],
    ['https://[::]/', 'unspecified'],
    ['https://169.254.169.254/latest/', 'metadata'],
    ['https://2852039166/', 'metadata'],
    ['https://[fd00:ec2::254]/', 'metadata'],
    ['https://[::ffff:169.254.169.254]/', 'metadata'],
    ['https://10.0.0.1/', 'private'],
    ['https://012.1/', 'private'],
    ['https://[fd12::1]/', 'private'],
    ['https://[fe80::1]/', 'link-local'],
    ['https://224.0.0.1/', 'multicast'],
    ['https://255.255.255.255/', 'broadcast'],
    ['https://localhost/', 'this machine'],
    ['https://LOCALHOST./', 'this machine'],
    ['https://localhost。/', 'this machine'],
    ['https://loc%61lhost/', 'this machine'],
    ['https://ⓛocalhost/', 'this machine'],
    ['https://app.localhost/', 'this machine'],
    ['https://metadata.google.internal/', 'this machine or its cloud'],
    ['https://Metadata.Google.Internal./', 'this machine or its cloud'],
  ]
  test.each(tricks)('detects the forbidden host in %s', (url, reason) => {
    const answer = check(url)
    expect(answer).toStartWith('refused: host ')
    expect(answer).toContain(reason)
  })

  test('rejects every spelling of a loopback address', () => {
    const last = fc.integer({ min: 0, max: 0xff_ffff })
    const radix = fc.constantFrom<[string, number]>(['', 10], ['0x', 16], ['0', 8])
    fc.assert(
      fc.property(last, radix, radix, (rest, [prefixA, radixA], [prefixB, radixB]) => {
        const host = `${prefixA}${(127).toString(radixA)}.${prefixB}${rest.toString(radixB)}`
        expect(check(`https://${host}/`)).toContain('loopback')
      }),
    )
  })
})

describe('the allow list', () => {
  const open: [string[], string][] = [
    [['127.0.0.1'], 'http://127.0.0.1:9000/'],
    [['127.0.0.1'], 'http://127.1:9000/'],
    [['127.0.0.1'], 'http://[::ffff:127.0.0.1]:9000/'],
    [['::ffff:127.0.0.1'], 'http://127.0.0.1:9000/'],
    [['::ffff:127.0.0.0/104'], 'http://127.0.0.9:9000/'],
    [['127.0.0.0/8'], 'http://127.9.9.9:9000/'],
    [['[::1]'], 'http://[::1]:9000/'],
    [['localhost'], 'http://LOCALHOST.:9000/'],
    [['Localhost.'], 'https://localhost/'],
    [[' hooks.corp '], 'http://hooks.corp/'],
    [['10.0.0.0/8', 'fd00::/8'], 'https://[fd12::1]/'],
    [['169.254.169.254'], 'http://169.254.169.254/'],
    [['169.254.169.254/32'], 'http://169.254.169.254/'],
    [['metadata.google.internal'], 'http://metadata.google.internal/'],
  ]
  test.each(open)('%j allows %s', (allow, url) => expect(check(url, allow)).not.toContain('refused'))

  const closed: [string[], string][] = [
    [['127.0.0.1'], 'http://127.0.0.2:9000/'],
    [['127.0.0.1'], 'http://localhost:9000/'],
    [['localhost'], 'http://127.0.0.1:9000/'],
    [['10.0.0.0/8'], 'http://hooks.corp/'],
    [['hooks.corp'], 'http://evil.hooks.corp/'],
    [['hooks.corp'], 'http://hooks.corp.evil/'],
    [['127.0.0.1'], 'http://127.0.0.1:25/'],
    [['127.0.0.1'], 'http://me@127.0.0.1:9000/'],
    [['0.0.0.0/0', '::/0'], 'https://169.254.169.254/'],
    [['169.254.0.0/16'], 'https://[::ffff:169.254.169.254]/'],
    [['fc00::/7'], 'https://[fd00:ec2::254]/'],
    [['64:ff9b::/96'], 'https://[64:ff9b::127.0.0.1]/'],
  ]
  test.each(closed)('%j does not allow %s', (allow, url) => expect(check(url, allow)).toContain('refused'))

  test.each(['http://x', 'x:80', 'x/y', '10.0.0.0/40', '*.corp', 'a b', 'me@x', '300.1.1.1', '..', '127.1'])(
    'rejects the entry %j',
    (entry) => {
      expect(() => addressGuard(['ok.example', entry])).toThrow(
        `"${entry}" is not a host name, IP address or CIDR block`,
      )
    },
  )
  test('ignores empty entries', () => expect(() => addressGuard(['', ' '])).not.toThrow())
})

describe('resolved addresses', () => {
  const names = resolver({
    'hooks.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
    'localtest.example': ['127.0.0.1'],
    'inner.example': ['10.1.2.3'],
    'mixed.example': ['93.184.216.34', '10.1.2.3'],
    'mixed6.example': ['93.184.216.34', '::ffff:127.0.0.1'],
    'nat64.example': ['64:ff9b::7f00:1'],
    'mapped.example': ['::ffff:93.184.216.34'],
    'metadata.example': ['169.254.169.254'],
    'zone.example': ['fe80::1%eth0'],
    'nothing.example': [],
    'nonsense.example': ['93.184.216.34', 'not an address'],
  })
  const vet = (url: string, allow: string[] = []) => addressGuard(allow).vet(new URL(url), names)

  test('are all returned with the host name and port', async () => {
    expect(await vet('https://hooks.example.com/x')).toEqual({
      host: 'hooks.example.com',
      port: 443,
      addresses: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800:220:1:0:0:0:1', family: 6 },
      ],
    })
    expect(await vet('https://[2606:4700::1111]:8443/')).toEqual({
      host: '2606:4700::1111',
      port: 8443,
      addresses: [{ address: '2606:4700:0:0:0:0:0:1111', family: 6 }],
    })
    expect((await vet('https://mapped.example/')).addresses).toEqual([{ address: '93.184.216.34', family: 4 }])
  })

  test.each([
    ['https://localtest.example/', 'loopback'],
    ['https://inner.example/', 'private'],
    ['https://mixed.example/', 'private'],
    ['https://mixed6.example/', 'loopback'],
    ['https://nat64.example/', 'loopback'],
    ['https://metadata.example/', 'metadata'],
    ['https://zone.example/', 'link-local'],
    ['https://127.0.0.1/', 'loopback'],
  ])('of %s are rejected without revealing the address', async (url, reason) => {
    const { code, message } = await vet(url).catch((error) => error)
    expect(code).toBe('invalid')
    expect(message).toContain(reason)
    expect(message.replace(new URL(url).host, '')).not.toMatch(/\d+\.\d+\.\d+|::/)
  })

  test.each(['https://unknown.example/', 'https://nothing.example/', 'https://nonsense.example/'])(
    'of %s are reported as a temporary error if missing or invalid',
    async (url) => {
      expect(await vet(url).catch((error) => error)).toMatchObject({ code: 'upstream' })
    },
  )

  test('are allowed if the host name or every blocked address is on the allow list', async () => {
    expect((await vet('https://mixed.example/', ['10.0.0.0/8'])).addresses).toHaveLength(2)
    expect((await vet('http://localtest.example/', ['localtest.example'])).addresses).toHaveLength(1)
    await expect(vet('https://mixed6.example/', ['10.0.0.0/8'])).rejects.toThrow('loopback')
  })

  test('of a metadata service require their own allow list entry', async () => {
    await expect(vet('https://metadata.example/', ['metadata.example'])).rejects.toThrow('metadata')
    expect((await vet('https://metadata.example/', ['169.254.169.254'])).addresses).toHaveLength(1)
  })

  test('are provided by the system resolver by default', async () => {
    expect(await systemResolve('localhost')).toContain('127.0.0.1')
    await expect(strict.vet(new URL('https://localhost/'))).rejects.toThrow('loopback')
  })
})
