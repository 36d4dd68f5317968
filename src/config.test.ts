import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { temporaryFolder } from '../test/run-program.ts'
import {
  type Config,
  describeConfig,
  type OperatorSetting,
  oidcSettings,
  readConfig,
  retentionMs,
  type SettingName,
} from './config.ts'
import { ROLES } from './contract/roles.ts'
import { DAY_MS } from './core/clock.ts'
import { isOfKubernetes, SettingError } from './setting-source.ts'

/** The setting of a made-up provider. */
const DESK_REGION: OperatorSetting = {
  name: 'DESK_REGION',
  default: 'north',
  meaning: 'Where the desk is',
  fault: (text) => (/^[a-z]+$/.test(text) ? null : 'must be lower-case letters'),
}

const read = (env: Record<string, string> = {}, flags: Partial<Record<SettingName, string>> = {}) =>
  readConfig(flags, env, [DESK_REGION])

const settingCount = ({ providers, ...own }: Config) => Object.keys({ ...own, ...providers }).length

test('the defaults apply without settings', () => {
  expect(read()).toEqual({
    data: './data',
    listen: { hostname: '127.0.0.1', port: 8787 },
    collectListen: null,
    publicUrl: '',
    collectUrl: '',
    collectorToken: '',
    control: '',
    endpointLock: 'off',
    backupTo: '',
    backupSchedule: '0 3 * * *',
    backupKeep: 7,
    smtpUrl: '',
    mailFrom: 'Tagwarden <tagwarden@localhost>',
    operatorMail: '',
    operatorWebhookUrl: '',
    heartbeatUrl: '',
    outboundAllow: [],
    outboundProxy: '',
    outboundCa: '',
    trustedProxies: [],
    countryFile: '',
    maxConnections: 4000,
    requestTimeoutS: 60,
    rateKeyPerMinute: 600,
    rateCollectPerSecond: 5000,
    rateSigninPerMinute: 60,
    queryTimeoutS: 20,
    questionsAtOnce: 4,
    questionsPerOrganization: 3,
    questionsPerCaller: 2,
    maxEventsRead: 20_000_000,
    retentionDays: 90,
    diskBudget: 0,
    logLevel: 'info',
    oidcIssuer: '',
    oidcClientId: '',
    oidcClientSecret: '',
    oidcName: 'your company',
    oidcGroupsClaim: 'groups',
    oidcRoles: [],
    oidcOrg: '',
    chromium: '',
    flowConcurrency: 1,
    region: 'local',
    runRetentionDays: 30,
    warehouse: null,
    providers: { DESK_REGION: 'north' },
  } as unknown as Config)
})

test('a flag overrides the environment, which overrides the default', () => {
  const env = { TAGWARDEN_DATA: '/srv/env', TAGWARDEN_RETENTION_DAYS: '30', PATH: '/bin', TAGWARDENX: 'irrelevant' }
  expect(read(env, { data: '/srv/flag' })).toMatchObject({ data: '/srv/flag', retentionDays: 30, logLevel: 'info' })
  expect(read(env)).toMatchObject({ data: '/srv/env' })
})

test.each(['TAGWARDEN_', 'TAGWARDEN_LISTENS', 'TAGWARDEN_listen', 'TAGWARDEN_TAGWARDEN_DATA', 'TAGWARDEN_DATA_'])(
  'the unknown variable %s aborts startup with an error that names it',
  (name) => {
    expect(() => read({ TAGWARDEN_DATA: '/srv', [name]: '1' })).toThrow(
      new SettingError(`${name}: unknown setting; see tagwarden config`),
    )
  },
)

describe('setting values', () => {
  test.each<[string, string, unknown]>([
    ['LISTEN', '0.0.0.0:80', { hostname: '0.0.0.0', port: 80 }],
    ['LISTEN', 'localhost:0', { hostname: 'localhost', port: 0 }],
    ['LISTEN', '[::1]:8787', { hostname: '::1', port: 8787 }],
    ['LISTEN', ':8787', { hostname: '0.0.0.0', port: 8787 }],
    ['COLLECT_LISTEN', '127.0.0.1:65535', { hostname: '127.0.0.1', port: 65535 }],
    ['PUBLIC_URL', 'https://watch.example/', 'https://watch.example'],
    ['PUBLIC_URL', 'https://example.com/tags//', 'https://example.com/tags'],
    ['COLLECT_URL', 'http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
    ['OUTBOUND_PROXY', 'http://user:pass@proxy:3128', 'http://user:pass@proxy:3128'],
    ['OUTBOUND_ALLOW', '', []],
    ['OUTBOUND_ALLOW', ' 10.0.0.0/8, hooks.internal ,,', ['10.0.0.0/8', 'hooks.internal']],
    ['TRUSTED_PROXIES', ' 10.0.0.0/8,,', [{ base: { family: 4, value: 10n << 24n }, bits: 8 }]],
    ['TRUSTED_PROXIES', '::1', [{ base: { family: 6, value: 1n }, bits: 128 }]],
    ['MAX_CONNECTIONS', '1', 1],
    ['REQUEST_TIMEOUT_S', '240', 240],
    ['SMTP_URL', 'smtps://me:hunter2@mail.example:465', 'smtps://me:hunter2@mail.example:465'],
    ['OPERATOR_MAIL', ' ops@company.example ', 'ops@company.example'],
    ['RATE_KEY_PER_MINUTE', '1', 1],
    ['RATE_COLLECT_PER_SECOND', '10000000', 10_000_000],
    ['RETENTION_DAYS', '400', 400],
    ['DISK_BUDGET', '0', 0],
    ['DISK_BUDGET', '1024', 1024],
    ['DISK_BUDGET', '500MB', 500 * 2 ** 20],
    ['DISK_BUDGET', '20 GB', 20 * 2 ** 30],
    ['DISK_BUDGET', '2tib', 2 * 2 ** 40],
    ['DISK_BUDGET', '65536k', 64 * 2 ** 20],
    ['LOG_LEVEL', 'debug', 'debug'],
    ['OIDC_ROLES', 'staff=viewer', [{ group: 'staff', role: 'viewer' }]],
    [
      'OIDC_ROLES',
      ' Web Analytics/Editors = member ,, cn=Admins=admin, ',
      [
        { group: 'Web Analytics/Editors', role: 'member' },
        { group: 'cn=Admins', role: 'admin' },
      ],
    ],
  ])('TAGWARDEN_%s=%p is accepted', (name, value, expected) => {
    expect<unknown[]>(Object.values(read({ [`TAGWARDEN_${name}`]: value }))).toContainEqual(expected)
  })

  test.each<[string, string[]]>([
    ['LISTEN', ['8787', 'localhost', '127.0.0.1:', '127.0.0.1:x', '127.0.0.1:65536', '127.0.0.1:-1', 'a:123456']],
    ['COLLECT_LISTEN', [' ', 'http://127.0.0.1:8788/', '::']],
    ['PUBLIC_URL', ['watch.example', 'ftp://watch.example', 'https://', '//watch.example', ' ', 'javascript:1']],
    ['COLLECT_URL', ['collect', 'https:// x']],
    ['OUTBOUND_PROXY', ['proxy:3128', 'socks5://me:hunter2@proxy:1080', 'https://proxy', 'http://me:hunter2@']],
    ['SMTP_URL', ['mail.example:25', 'http://me:hunter2@mail', 'smtp://', 'smtp:me:hunter2@mail']],
    ['OPERATOR_MAIL', ['ops', 'ops@', 'a@x.example, b@x.example', 'Ops <ops@x.example>', ' ']],
    ['TRUSTED_PROXIES', ['proxy.internal', '10.0.0.0/33', '10.0.0.1 10.0.0.2', '*']],
    ['MAX_CONNECTIONS', ['0', '1000001', '']],
    ['REQUEST_TIMEOUT_S', ['0', '241', '1.5']],
    ['RATE_KEY_PER_MINUTE', ['0', '-1', '1.5', 'many', '1e9', 'NaN', 'Infinity', '']],
    ['RATE_COLLECT_PER_SECOND', ['0', '10000001']],
    ['RATE_SIGNIN_PER_MINUTE', ['0', '1000001']],
    ['RETENTION_DAYS', ['0', '36501', '90d', '']],
    ['DISK_BUDGET', ['lots', '-1', '1.5GB', '5PB', '10 000', 'GB', '1e9', '5none', '9.9MB']],
    ['LOG_LEVEL', ['', 'verbose', 'INFO']],
    ['OIDC_ROLES', ['staff', 'staff=', '=viewer', 'staff=boss', 'staff=Viewer', 'a=viewer,b', '=']],
    [
      'OIDC_ISSUER',
      [
        'acme.example',
        'http://acme.example',
        'ftp://acme.example',
        'https://',
        ' ',
        'http://127.0.0.1.example',
        'https://me:hunter2@acme.example',
        'https://acme.example/?x=1',
        'https://acme.example/#x',
        'http://10.0.0.1',
      ],
    ],
  ])('an error names TAGWARDEN_%s when it rejects %p', (name, values) => {
    for (const value of values) {
      const attempt = () => read({ [`TAGWARDEN_${name}`]: value })
      expect(attempt).toThrow(SettingError)
      expect(attempt).toThrow(new RegExp(`^TAGWARDEN_${name}: must be `))
      expect(attempt).not.toThrow('hunter2')
    }
  })

  test('always produce a configuration or an error that names the setting', () => {
    const names = describeConfig({}, {}, [DESK_REGION]).map(({ name }) => name)
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string({ unit: 'binary' }), (name, value) => {
        try {
          expect(settingCount(read({ [name]: value }))).toBe(names.length)
        } catch (error) {
          if (!(error instanceof SettingError)) throw error
          expect(error.message).toStartWith(`${name}: `)
        }
      }),
    )
  })
})

describe('single sign-on configuration', () => {
  const whole = {
    TAGWARDEN_OIDC_ISSUER: 'https://id.acme.example/realms/main/',
    TAGWARDEN_OIDC_CLIENT_ID: 'tagwarden',
    TAGWARDEN_OIDC_ROLES: 'staff=viewer,board=owner',
  }

  test('is null without an issuer, regardless of other settings', () => {
    expect(oidcSettings(read())).toBeNull()
    expect(oidcSettings(read({ ...whole, TAGWARDEN_OIDC_ISSUER: '' }))).toBeNull()
  })

  test('is read from the settings', () => {
    const settings = {
      issuer: 'https://id.acme.example/realms/main/',
      clientId: 'tagwarden',
      clientSecret: '',
      name: 'your company',
      groupsClaim: 'groups',
      roles: [
        { group: 'staff', role: 'viewer' },
        { group: 'board', role: 'owner' },
      ],
      orgId: null,
    } as const
    expect(oidcSettings(read(whole))).toEqual({ ...settings, roles: [...settings.roles] })
    const more = { CLIENT_SECRET: 's', NAME: 'Acme ID', GROUPS_CLAIM: 'roles', ORG: 'org_1' }
    const env = Object.fromEntries(Object.entries(more).map(([name, value]) => [`TAGWARDEN_OIDC_${name}`, value]))
    expect(oidcSettings(read({ ...whole, ...env }))).toMatchObject({
      clientSecret: 's',
      name: 'Acme ID',
      groupsClaim: 'roles',
      orgId: 'org_1',
    })
  })

  test.each([
    'http://localhost:8080/realms/x',
    'http://127.0.0.1:9',
    'http://[::1]:9',
    'https://10.0.0.1',
    whole.TAGWARDEN_OIDC_ISSUER,
  ])('uses the issuer %s unchanged', (issuer) => {
    expect(read({ ...whole, TAGWARDEN_OIDC_ISSUER: issuer }).oidcIssuer).toBe(issuer)
  })

  test.each(['CLIENT_ID', 'ROLES', 'NAME', 'GROUPS_CLAIM'])('requires OIDC_%s, and names it in the error', (name) => {
    expect(() => read({ ...whole, [`TAGWARDEN_OIDC_${name}`]: '' })).toThrow(
      new SettingError(`TAGWARDEN_OIDC_${name}: must be set when TAGWARDEN_OIDC_ISSUER is set`),
    )
  })

  test('preserves the order of group roles', () => {
    const group = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .map((name) => name.replaceAll(',', '/').trim())
      .filter((name) => name !== '')
    const roles = fc.array(fc.record({ group, role: fc.constantFrom(...ROLES) }), { maxLength: 10 })
    const gap = fc.constantFrom('', ' ', '\t')
    fc.assert(
      fc.property(roles, gap, gap, (expected, before, after) => {
        const text = expected.map(({ group, role }) => `${before}${group}${after}=${before}${role}${after}`).join(',')
        expect(read({ TAGWARDEN_OIDC_ROLES: text }).oidcRoles).toEqual(expected)
      }),
    )
  })

  test('rejects an unknown role at any position, with an error that names the role', () => {
    const role = fc.stringMatching(/^[a-zA-Z]{1,12}$/).filter((word) => !(ROLES as readonly string[]).includes(word))
    fc.assert(
      fc.property(role, fc.nat({ max: 3 }), (word, place) => {
        const parts = ['a=viewer', 'b c=member', 'd/e=owner'].toSpliced(place, 0, `x=${word}`)
        expect(() => read({ TAGWARDEN_OIDC_ROLES: parts.join() })).toThrow(
          new SettingError(
            `TAGWARDEN_OIDC_ROLES: must be GROUP=ROLE,… where ROLE is one of viewer, member, admin, owner, not "x=${word}"`,
          ),
        )
      }),
    )
  })
})

describe('the settings shown to an operator', () => {
  test('include every setting once, with its description', () => {
    const settings = describeConfig({}, {}, [DESK_REGION])
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settingCount(read()))
    for (const { name, meaning, value, default: fallback } of settings) {
      expect(name).toMatch(/^TAGWARDEN_[A-Z_]+$/)
      expect(meaning).not.toBe('')
      expect(value).toBe(fallback)
    }
  })

  test('show effective values', () => {
    const settings = describeConfig(
      { data: '/srv/flag' },
      { TAGWARDEN_DATA: '/srv/env', TAGWARDEN_DISK_BUDGET: '20GB' },
      [DESK_REGION],
    )
    expect(settings).toContainEqual(expect.objectContaining({ name: 'TAGWARDEN_DATA', value: '/srv/flag' }))
    expect(settings).toContainEqual(expect.objectContaining({ name: 'TAGWARDEN_DISK_BUDGET', value: '20GB' }))
  })

  test('never include a secret', () => {
    const secrets = {
      TAGWARDEN_SMTP_URL: 'smtp://me:hunter2@mail',
      TAGWARDEN_OUTBOUND_PROXY: 'http://me:hunter2@proxy',
      TAGWARDEN_OIDC_CLIENT_SECRET: 'hunter2',
      TAGWARDEN_WAREHOUSE: 'clickhouse://me:hunter2@db.example',
    }
    const shown = describeConfig({}, secrets, [DESK_REGION])
    expect(JSON.stringify(shown)).not.toContain('hunter2')
    for (const name of Object.keys(secrets)) {
      expect(shown).toContainEqual(expect.objectContaining({ name, value: '(secret)' }))
    }
    expect(describeConfig({}, {}, [DESK_REGION])).toContainEqual(
      expect.objectContaining({ name: 'TAGWARDEN_SMTP_URL', value: '' }),
    )
  })
})

test('retention is counted in whole days', () => {
  expect(retentionMs({ retentionDays: 90 })).toBe(90 * DAY_MS)
})

describe('a secret in a file', () => {
  const folder = temporaryFolder()
  afterAll(() => folder[Symbol.dispose]())
  const path = join(folder.path, 'secret')
  writeFileSync(path, 'smtp://user:from-a-file@mail.example:25\n')

  test('is read without the line break at its end', () => {
    expect(read({ TAGWARDEN_SMTP_URL_FILE: path }).smtpUrl).toBe('smtp://user:from-a-file@mail.example:25')
    const shown = describeConfig({}, { TAGWARDEN_SMTP_URL_FILE: path }, []).find(({ name }) => /SMTP_URL/.test(name))
    expect(shown?.value).toBe('(secret)')
  })

  test.each<[Record<string, string>, string]>([
    [
      { TAGWARDEN_SMTP_URL_FILE: path, TAGWARDEN_SMTP_URL: 'smtp://mail.example' },
      'TAGWARDEN_SMTP_URL_FILE: must not be set together with TAGWARDEN_SMTP_URL',
    ],
    [{ TAGWARDEN_SMTP_URL_FILE: '/nowhere/x' }, "TAGWARDEN_SMTP_URL_FILE: /nowhere/x can't be read (ENOENT)"],
    [{ TAGWARDEN_SMTP_URL_FILE: '/' }, "TAGWARDEN_SMTP_URL_FILE: / can't be read (EISDIR)"],
    [{ TAGWARDEN_DATA_FILE: path }, 'TAGWARDEN_DATA_FILE: unknown setting'],
    [{ TAGWARDEN_WAREHOUSE_FILE: path }, 'TAGWARDEN_WAREHOUSE: must be clickhouse://user:password@host:port/database'],
  ])('is refused for %j', (env, message) => {
    expect(() => read(env)).toThrow(message)
  })
})

test('variables that Kubernetes sets for a service are ignored', () => {
  const injected = {
    TAGWARDEN_SERVICE_HOST: '10.0.0.1',
    TAGWARDEN_SERVICE_PORT: '8787',
    TAGWARDEN_SERVICE_PORT_HTTP: '8787',
    TAGWARDEN_PORT: 'tcp://10.0.0.1:8787',
    TAGWARDEN_PORT_8787_TCP: 'tcp://10.0.0.1:8787',
    TAGWARDEN_PORT_8787_TCP_PROTO: 'tcp',
    TAGWARDEN_PORT_8787_TCP_PORT: '8787',
    TAGWARDEN_PORT_8787_TCP_ADDR: '10.0.0.1',
    TAGWARDEN_COLLECT_SERVICE_HOST: '10.0.0.2',
    TAGWARDEN_COLLECT_PORT: 'tcp://10.0.0.2:8788',
  }
  expect(read(injected)).toEqual(read())
  for (const [name, value] of Object.entries(injected))
    expect([name, isOfKubernetes(name, value)]).toEqual([name, true])
  expect(() => read({ TAGWARDEN_PORT: '8080' })).toThrow('TAGWARDEN_PORT: unknown setting')
})
test.each([
  ['OPERATOR_WEBHOOK_URL', 'https://10.0.0.5/secret-part', 'host 10.0.0.5 is'],
  ['HEARTBEAT_URL', 'http://hc.example.com/secret-part', 'must be an https URL'],
  ['HEARTBEAT_URL', 'hc.example.com/secret-part', 'must be an https URL; the current value is not shown'],
])('%s is checked like every outbound URL, and not repeated: %s', (name, value, reason) => {
  const read = (allow: string) => readConfig({}, { [`TAGWARDEN_${name}`]: value, TAGWARDEN_OUTBOUND_ALLOW: allow }, [])
  const message = messageOfThrown(() => read(''))
  expect(message).toStartWith(`TAGWARDEN_${name}: ${reason}`)
  expect(message).not.toContain('secret-part')
  if (URL.canParse(value)) expect(() => read('10.0.0.0/8,hc.example.com')).not.toThrow()
})

function messageOfThrown(act: () => void): string {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}
