import type { Decoder } from './decoder.ts'
import { jsonEvent, pixel, scriptLoad } from './route-builders.ts'

export const brevo: Decoder = {
  vendor: 'Brevo',
  source: 'https://developers.brevo.com/docs/gettings-started-with-sendinblue-tracker',
  hosts: ['in-automate.brevo.com', 'in-automate.sendinblue.com', 'cdn.brevo.com', 'sibautomation.com'],
  routes: [
    pixel(/^\/p$/, {
      account: 'key',
      event: ({ sib_type = '', sib_name = '', name }) =>
        sib_type === 'track' ? sib_name || name || sib_type : sib_type,
    }),
    // The account key is in a header.
    jsonEvent(/^\/api\/v2\/trackEvent$/, { event: 'event' }),
    jsonEvent(/^\/api\/v2\/(?<event>\w+)$/),
    scriptLoad(/^\/(?:sa\.js|cm\.html)$/, 'key'),
    scriptLoad(/^\/js\/[\w.-]+\.js$/),
  ],
}
