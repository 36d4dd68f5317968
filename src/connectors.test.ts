import { expect, test } from 'bun:test'
import { CONNECTORS } from './connectors.ts'
import {
  CHANNEL_TITLES,
  CHANNEL_TYPES,
  PROVIDER_CONFIGS,
  PROVIDER_TITLES,
  PROVIDER_TYPES,
} from './contract/products.ts'
import { findByType } from './integrations/channel-targets.ts'
import { CHANNELS } from './integrations/providers/index.ts'

test('every type has exactly one channel and one connector', () => {
  for (const channel of CHANNELS) expect(findByType(CHANNELS, channel.type)).toBe(channel)
  for (const connector of CONNECTORS) expect(findByType(CONNECTORS, connector.type)).toBe(connector)
  expect(CHANNELS.map(({ type }) => type).toSorted()).toEqual(CHANNEL_TYPES.toSorted())
  expect(CONNECTORS.map(({ type }) => type).toSorted()).toEqual(PROVIDER_TYPES.toSorted())
  expect(Object.fromEntries(CHANNELS.map(({ type, title }) => [type, title]))).toEqual(CHANNEL_TITLES)
  expect(CONNECTORS.map(({ type, title }) => [type, title])).toEqual(
    CONNECTORS.map(({ type }) => [type, PROVIDER_TITLES[type]]),
  )
  expect(findByType(CHANNELS, 'pigeon')).toBeNull()
})

test('a product that is both a channel and a connector is the same in both', () => {
  const both = CHANNELS.filter(({ hasIntegrations }) => hasIntegrations)
  const notifying = CONNECTORS.filter(({ notifies }) => notifies)
  const typesOf = (products: readonly { type: string }[]) => products.map(({ type }) => type).toSorted()
  expect(typesOf(both)).toEqual(typesOf(notifying))
  for (const { type, title, help, secrets } of both) {
    const one = findByType(CONNECTORS, type)
    const shared = (product: typeof one) => JSON.stringify([product?.title, product?.help, product?.secrets.fields])
    expect(shared(one)).toBe(JSON.stringify([title, help, secrets.fields]))
  }
})

test('the description of the settings of each provider names all of its fields', () => {
  for (const { type, configuration } of CONNECTORS) {
    const described = [...PROVIDER_CONFIGS[type].matchAll(/\w+/g)].map(([name]) => name).filter((name) => name !== 'or')
    expect([type, described.toSorted()]).toEqual([type, Object.keys(configuration.schema.properties).toSorted()])
  }
})
