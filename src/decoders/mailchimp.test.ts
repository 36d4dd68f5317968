import { testDecoder } from './decoder-cases.ts'
import { mailchimp } from './mailchimp.ts'

// https://mailchimp.com/help/about-connected-sites/
testDecoder(mailchimp, [
  {
    name: 'a subscription',
    url: 'https://shop.us1.list-manage.com/subscribe/post?u=abc123&id=def4&f_id=7',
    body: 'EMAIL=jane%40shop.example&tags=9',
    account: 'abc123',
    events: ['subscribe'],
    params: { id: 'def4', EMAIL: 'jane@shop.example' },
  },
  {
    name: 'a subscription by script',
    url: 'https://shop.us1.list-manage.com/subscribe/post-json?u=abc123&id=def4&EMAIL=jane%40shop.example&c=cb',
    account: 'abc123',
    events: ['subscribe'],
  },
  { name: 'an opened e-mail', url: 'https://shop.us1.list-manage.com/track/open.php?u=abc123', events: [] },
  {
    name: 'the library',
    url: 'https://chimpstatic.com/mcjs-connected/js/users/abc123/0a1b.js',
    account: 'abc123',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://mailchimp.com/pricing/', events: null },
])
