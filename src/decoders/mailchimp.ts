import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const mailchimp: Decoder = {
  vendor: 'Mailchimp',
  source: 'https://mailchimp.com/help/about-connected-sites/',
  hosts: ['list-manage.com', 'chimpstatic.com'],
  routes: [
    // `u` is the account, `id` the audience. If the path ends in `-json`, the response is a script.
    pixel(/^\/subscribe\/(?:landing-page|post)(?:-json)?$/, { account: 'u', event: () => 'subscribe' }),
    // An e-mail was opened.
    sideChannel(/^\/track\/open\.php$/),
    scriptLoad(/^\/mcjs-connected\/js\/users\/(?<account>[0-9a-f]+)\//),
  ],
}
