import { AppError } from '../../../src/core/error.ts'
import { Closed, OneOf, parser, Text, Type } from '../../../src/core/schema.ts'
import { channel, noDetail, type Secrets, showsNoStatus } from '../../../src/integrations/providers/channel.ts'
import { connector } from '../../../src/integrations/providers/connector.ts'

interface Settings {
  team: string
  ringSeconds: number
  secret: string
  urgency: 'calm' | 'loud'
  isNightly?: boolean
  words?: string[]
}

const SettingsSchema = Closed({
  team: Text(1, 100, { title: 'Team', description: 'Team whose pagers ring; `everyone` for all', examples: ['shop'] }),
  ringSeconds: Type.Integer({ minimum: 1, maximum: 60, title: 'Ring for', 'x-unit': 'seconds' }),
  secret: Text(8, 100, { title: 'Pass phrase', description: 'Requested by the pagers' }),
  urgency: OneOf(['calm', 'loud'] as const, { title: 'Urgency' }),
  isNightly: Type.Optional(Type.Boolean({ title: 'At night too' })),
  words: Type.Optional(Type.Array(Text(1, 40), { maxItems: 5, title: 'Words to say' })),
})
const parse = parser(SettingsSchema)

const NUMBER = /^\d{4}$/

const PRODUCT = {
  // The program's types do not list this product.
  type: 'pager' as never,
  title: 'Pager',
  help: 'Rings pagers.',
}
const secrets: Secrets<Settings> = { fields: ['secret'], derived: () => [] }
const ring = async () => ({ verdict: 'delivered', note: null }) as const

/** A fictional channel. Its targets are pager numbers and integrations. */
export const pagerChannel = channel<Settings>({
  ...PRODUCT,
  secrets,
  addresses: {
    target: Text(1, 20, { title: 'Number', description: 'Four digits', examples: ['1234'] }),
    check(target) {
      if (!NUMBER.test(target)) throw new AppError('invalid', 'must have four digits')
    },
    settingsOf: (target) => ({ team: target, ringSeconds: 1, secret: '', urgency: 'calm' }),
  },
  hasIntegrations: true,
  checkDetail: noDetail,
  deliveryOf: () => ({
    openings: 'separate',
    usesHistory: false,
    deliver: ring,
    test: ring,
    syncStatus: showsNoStatus,
  }),
})

/** The connector of the fictional channel. An integration is a team. */
export const pagerConnector = connector<Settings>({
  ...PRODUCT,
  secrets,
  operator: [],
  notifies: true,
  configuration: {
    schema: SettingsSchema,
    prepare(config) {
      const settings = parse(config, 'config') as Settings
      if (settings.team === 'nobody') throw new AppError('invalid', 'config.team: has no pagers')
      return settings
    },
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => 'https://pagers.example',
  },
  connection: { by: 'settings' },
  inbound: [],
  routes: () => [],
})
