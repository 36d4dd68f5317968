import { AppError } from '../../../src/core/error.ts'
import { Closed, OneOf, parser, Text, Type } from '../../../src/core/schema.ts'
import { provider } from '../../../src/integrations/providers/provider.ts'

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

/** A fictional provider of pagers. A channel is a pager number, and an integration is a team. */
export const pager = provider<Settings>({
  // The program's type does not list this provider.
  type: 'pager' as never,
  title: 'Pager',
  help: 'Rings pagers.',
  omitsHistory: true,
  connect: { by: 'secret', fields: ['secret'] },
  configured: {
    schema: SettingsSchema,
    prepare(config) {
      const settings = parse(config, 'config') as Settings
      if (settings.team === 'nobody') throw new AppError('invalid', 'config.team: has no pagers')
      return settings
    },
  },
  addresses: {
    target: Text(1, 20, { title: 'Number', description: 'Four digits', examples: ['1234'] }),
    check(target) {
      if (!NUMBER.test(target)) throw new AppError('invalid', 'must have four digits')
    },
    settingsOf: (target) => ({ team: target, ringSeconds: 1, secret: '', urgency: 'calm' }),
  },
  origin: () => 'https://pagers.example',
  deliver: async () => ({ verdict: 'delivered', note: null }),
})
