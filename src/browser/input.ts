import { Closed, Int, OneOf, type SchemaNotes, Text, Type } from '../core/schema.ts'

/** Fields that flow tests and audits have alike. */

export const DeviceSchema = Type.Union(
  [
    OneOf(['desktop', 'mobile']),
    Closed({
      width: Int({ minimum: 200, maximum: 4000, description: 'CSS pixels' }),
      height: Int({ minimum: 200, maximum: 4000, description: 'CSS pixels' }),
      mobile: Type.Optional(Type.Boolean({ default: false, description: 'A phone: touch, and its user agent' })),
    }),
  ],
  {
    default: 'desktop',
    description: '`desktop` is 1,280 × 800, `mobile` a phone of 390 × 844; or a size of its own',
  },
)

export const VendorRequestsSchema = OneOf(['answer', 'send'], {
  default: 'answer',
  description: '`answer`: what tags send to known vendors is answered here and does not leave; `send`: it leaves',
})

const selectors = Type.Optional(
  Type.Array(Text(1, 500, { description: 'A CSS selector', examples: ['#accept'] }), {
    maxItems: 20,
    description: 'What is to be pressed, in this order; none: the buttons of known banners',
    examples: [['#accept']],
  }),
)

/** How a consent banner is answered, with the modes that there are. */
export const consentSchema = <const Modes extends readonly string[]>(modes: Modes, notes: SchemaNotes) =>
  Closed({ mode: OneOf(modes), selectors }, notes)

export const scheduleFields = {
  schedule: Type.Union([Text(1, 100, { examples: ['0 6 * * *'] }), Type.Null()], {
    description: 'When it runs by itself: a cron pattern, in `timezone`; null: never',
  }),
  timezone: Type.String({
    maxLength: 50,
    default: 'UTC',
    description: 'Of `schedule`: a name of the IANA database, or an offset',
    examples: ['Europe/Berlin'],
  }),
}
