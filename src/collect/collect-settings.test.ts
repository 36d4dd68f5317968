import { expect, test } from 'bun:test'
import { readConfig } from '../config.ts'
import { collectSettings } from './collect-settings.ts'

const TOKEN = `ct_${'x'.repeat(43)}`
const complete = {
  TAGWARDEN_CONTROL: 'https://control.example/',
  TAGWARDEN_COLLECTOR_TOKEN: TOKEN,
  TAGWARDEN_WAREHOUSE: 'clickhouse://clickhouse.example',
}
const read = (env: Record<string, string>) => collectSettings(readConfig({}, { ...complete, ...env }))

test('the settings of a collector', () => {
  expect(read({})).toMatchObject({ controlUrl: 'https://control.example', token: TOKEN })
})

test.each<[Record<string, string>, string]>([
  [{ TAGWARDEN_CONTROL: '' }, 'TAGWARDEN_CONTROL: must be set to the URL of the control node, or --control'],
  [{ TAGWARDEN_CONTROL: 'control:8787' }, 'TAGWARDEN_CONTROL: must be an http or https URL, not "control:8787"'],
  [{ TAGWARDEN_CONTROL: 'http://10.0.0.7:8787' }, 'TAGWARDEN_CONTROL: host 10.0.0.7 is'],
  [{ TAGWARDEN_CONTROL: 'http://control.example' }, 'TAGWARDEN_CONTROL: must be an https URL (http only for hosts in'],
  [{ TAGWARDEN_COLLECTOR_TOKEN: '' }, 'TAGWARDEN_COLLECTOR_TOKEN: must be set to the token that'],
  [{ TAGWARDEN_COLLECTOR_TOKEN: 'secret' }, 'TAGWARDEN_COLLECTOR_TOKEN: must be a token that'],
  [{ TAGWARDEN_WAREHOUSE: '' }, 'TAGWARDEN_WAREHOUSE: must be set to the ClickHouse database of the control node'],
])('%j is refused by the name of the setting', (env, message) => {
  expect(() => read(env)).toThrow(message)
})

test('a control node in a private network is allowed with TLS, and without it if OUTBOUND_ALLOW has it', async () => {
  const addressesOf = async (control: string, allow = '') => {
    const { guard } = read({ TAGWARDEN_CONTROL: control, TAGWARDEN_OUTBOUND_ALLOW: allow })
    return (await guard.vet(guard.checkUrl(control), async () => ['10.0.0.7'])).addresses.map((one) => one.address)
  }
  expect(await addressesOf('https://control.internal')).toEqual(['10.0.0.7'])
  expect(await addressesOf('https://10.0.0.7:8443')).toEqual(['10.0.0.7'])
  expect(await addressesOf('http://control.internal:8787', 'control.internal')).toEqual(['10.0.0.7'])
})
