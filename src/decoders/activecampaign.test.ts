import { activeCampaign } from './activecampaign.ts'
import { testDecoder } from './decoder-cases.ts'

// https://developers.activecampaign.com/reference/site-tracking
testDecoder(activeCampaign, [
  {
    name: 'a page view in the legacy API',
    url: 'https://trackcmp.net/visit?actid=101&e=jane%40shop.example&r=&u=https%3A%2F%2Fshop.example%2F',
    account: '101',
    events: ['page_view'],
    params: { u: 'https://shop.example/' },
  },
  {
    name: 'a page view in the current API',
    url: 'https://prism.app-us1.com/?a=101&u=https%3A%2F%2Fshop.example%2F',
    account: '101',
    events: ['page_view'],
  },
  {
    name: 'an event',
    url: 'https://trackcmp.net/event',
    body: 'actid=101&key=geheim&event=checkout&eventdata=42.5&visit=%7B%22email%22%3A%22jane%40shop.example%22%7D',
    account: '101',
    events: ['checkout'],
    params: { eventdata: '42.5' },
    without: ['key'],
  },
  {
    name: 'a form',
    url: 'https://acme.activehosted.com/proc.php',
    body: 'u=1&f=7&email=jane%40shop.example',
    account: 'acme',
    events: ['form_submission'],
    params: { f: '7' },
  },
  { name: 'the library', url: 'https://diffuser-cdn.app-us1.com/diffuser/diffuser.js', kind: 'library', events: [''] },
  { name: "the vendor's app", url: 'https://acme.activehosted.com/admin/', events: null },
])
