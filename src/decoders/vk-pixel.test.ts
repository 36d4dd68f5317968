import { testDecoder } from './decoder-cases.ts'
import { vkPixel } from './vk-pixel.ts'

// https://ads.vk.com/help/articles/pixel
testDecoder(vkPixel, [
  { name: 'a page view', url: 'https://vk.com/rtrg?p=VK-RTRG-1-abc', account: 'VK-RTRG-1-abc', events: ['hit'] },
  {
    name: 'a shop event',
    url: 'https://vk.com/rtrg?p=VK-RTRG-1-abc&products_event=purchase&price_list_id=7',
    account: 'VK-RTRG-1-abc',
    events: ['purchase'],
  },
  {
    name: 'a VK Ads page view',
    url: 'https://top-fwz1.mail.ru/counter?_=0.5;id=1234567;u=https%3A//shop.example/;title=Home',
    account: '1234567',
    events: ['pageView'],
    params: { u: 'https://shop.example/', title: 'Home' },
  },
  {
    name: 'a VK Ads goal',
    url: 'https://top-fwz1.mail.ru/tracker?id=1234567;e=RG%3A42/order;u=x',
    account: '1234567',
    events: ['order'],
    params: { e: 'RG:42/order', 'e.value': '42', 'e.goal': 'order' },
  },
  { name: 'timings', url: 'https://top-fwz1.mail.ru/tracker?_=0.5;id=1234567;e=RT%2Fload;nt=1/0', events: [] },
  { name: 'the library', url: 'https://top-fwz1.mail.ru/js/code.js', events: [''], kind: 'library' },
  { name: 'the social network', url: 'https://vk.com/feed', events: null },
])
