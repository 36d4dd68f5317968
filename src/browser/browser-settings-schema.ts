import { Closed, Int, OneOf, type SchemaNotes, Text, Type } from '../core/schema.ts'

/** Fields shared by flow tests and audits. */

export const DeviceSchema = Type.Union(
  [
    OneOf(['desktop', 'mobile']),
    Closed({
      width: Int({ minimum: 200, maximum: 4000, description: 'CSS pixels' }),
      height: Int({ minimum: 200, maximum: 4000, description: 'CSS pixels' }),
      mobile: Type.Optional(
        Type.Boolean({ default: false, description: 'True for a phone, with touch and a mobile user agent' }),
      ),
    }),
  ],
  {
    default: 'desktop',
    description: '`desktop`: 1,280 × 800; `mobile`: a phone with 390 × 844; or a custom size',
  },
)

export const VendorRequestsSchema = OneOf(['answer', 'send'], {
  default: 'answer',
  description:
    '`answer`: requests to known vendors are answered inside the browser and do not leave it; `send`: they are sent',
})

const selectors = Type.Optional(
  Type.Array(Text(1, 500, { description: 'A CSS selector', examples: ['#accept'] }), {
    maxItems: 20,
    description: 'Elements to click, in this order; default: the buttons of known consent banners',
    examples: [['#accept']],
  }),
)

/** Returns the schema for answering a consent banner, with the given modes. */
export const consentSchema = <const Modes extends readonly string[]>(modes: Modes, notes: SchemaNotes) =>
  Closed({ mode: OneOf(modes), selectors }, notes)

export const scheduleFields = {
  schedule: Type.Union([Text(1, 100, { examples: ['0 6 * * *'] }), Type.Null()], {
    description: 'Cron pattern for automatic runs, in `timezone`; null: no automatic runs',
  }),
  timezone: Type.String({
    maxLength: 50,
    default: 'UTC',
    description: 'Time zone of `schedule`: an IANA name or an offset',
    examples: ['Europe/Berlin'],
  }),
}
