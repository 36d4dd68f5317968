import { brevo } from './brevo.ts'
import { testDecoder } from './decoder-cases.ts'

// https://developers.brevo.com/docs/gettings-started-with-sendinblue-tracker
testDecoder(brevo, [
  {
    name: 'a page',
    url: 'https://in-automate.brevo.com/p?sib_type=page&key=abc123&sib_name=Home&ma_url=https%3A%2F%2Fshop.example%2F',
    account: 'abc123',
    events: ['page'],
    params: { ma_url: 'https://shop.example/' },
  },
  {
    name: 'an event',
    url: 'https://in-automate.brevo.com/p?sib_type=track&sib_name=checkout&key=abc123',
    account: 'abc123',
    events: ['checkout'],
  },
  {
    name: 'a visitor',
    url: 'https://in-automate.sendinblue.com/p?sib_type=identify&key=abc123&email_id=7',
    account: 'abc123',
    events: ['identify'],
  },
  {
    name: 'a server event',
    url: 'https://in-automate.brevo.com/api/v2/trackEvent',
    body: JSON.stringify({ email: 'jane@shop.example', event: 'checkout', eventdata: { value: 42.5 } }),
    events: ['checkout'],
    params: { 'eventdata.value': '42.5' },
  },
  {
    name: 'the library',
    url: 'https://sibautomation.com/sa.js?key=abc123',
    account: 'abc123',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.brevo.com/p', events: null },
])
