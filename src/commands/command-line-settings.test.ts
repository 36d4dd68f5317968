import { describe, expect, test } from 'bun:test'
import { type Invocation, UsageError } from './command.ts'
import { configOf, settingsOf } from './command-line-settings.ts'

const invoke = (flags: Invocation['flags'], env: Record<string, string> = {}): Invocation => ({ flags, names: [], env })

test('only flags that correspond to a setting become settings', () => {
  const flags = { data: '/srv', listen: '127.0.0.1:1', 'collect-listen': '127.0.0.1:2', json: true, org: 'Acme' }
  expect(settingsOf(invoke(flags))).toEqual({ data: '/srv', listen: '127.0.0.1:1', collectListen: '127.0.0.1:2' })
  expect(settingsOf(invoke({}))).toEqual({})
})

describe('the configuration of a command', () => {
  test("gives precedence to the command's own settings", () => {
    const env = { TAGWARDEN_DATA: '/env', TAGWARDEN_LOG_LEVEL: 'debug', TAGWARDEN_RETENTION_DAYS: '7' }
    const config = configOf(invoke({ data: '/flag' }, env), { logLevel: 'warn' })
    expect(config).toMatchObject({ data: '/flag', logLevel: 'warn', retentionDays: 7 })
    expect(configOf(invoke({ data: '/flag' }), { data: '/own' }).data).toBe('/own')
  })

  test.each<[Invocation['flags'], Record<string, string>, string]>([
    [{ listen: 'x' }, {}, 'TAGWARDEN_LISTEN: must be HOST:PORT'],
    [{}, { TAGWARDEN_DISK_BUDGET: 'x' }, 'TAGWARDEN_DISK_BUDGET: must be a size'],
    [{}, { TAGWARDEN_DISK_BUDGET: '1KB' }, 'TAGWARDEN_DISK_BUDGET: must be at least 10MB'],
    [{}, { TAGWARDEN_X: '1' }, 'TAGWARDEN_X: unknown setting'],
  ])('is rejected with a usage error for %j %j', (flags, env, message) => {
    expect(() => configOf(invoke(flags, env))).toThrow(UsageError)
    expect(() => configOf(invoke(flags, env))).toThrow(message)
  })
})
