import { testDecoder } from './decoder-cases.ts'
import { vwo } from './vwo.ts'

// https://developers.vwo.com/reference/api-details
testDecoder(vwo, [
  {
    name: 'an event',
    url: 'https://dev.visualwebsiteoptimizer.com/eu01/events/t?en=checkout&a=654321&eTime=1&random=0.1',
    body: JSON.stringify({ d: { visId: 'D1', event: { name: 'checkout', props: { value: 42.5 } } } }),
    account: '654321',
    events: ['checkout'],
    params: { 'event.props.value': '42.5', visId: 'D1' },
  },
  {
    name: 'a displayed variation',
    url: 'https://dev.visualwebsiteoptimizer.com/l.gif?experiment_id=7&account_id=654321&combination=2&s=1',
    account: '654321',
    events: ['variation'],
    params: { experiment_id: '7', combination: '2' },
  },
  {
    name: 'a conversion',
    url: 'https://dev.visualwebsiteoptimizer.com/c.gif?experiment_id=7&account_id=654321&goal_id=3&r=42.5',
    account: '654321',
    events: ['goal'],
    params: { goal_id: '3' },
  },
  {
    name: 'a page',
    url: 'https://dev.visualwebsiteoptimizer.com/v.gif?a=654321&d=shop.example&u=D1&h=9&t=false',
    account: '654321',
    events: ['page_view'],
  },
  {
    name: 'a server call',
    url: 'https://dev.visualwebsiteoptimizer.com/server-side/track-goal?account_id=654321&goal_id=3',
    account: '654321',
    events: ['track-goal'],
  },
  {
    name: 'the library',
    url: 'https://dev.visualwebsiteoptimizer.com/j.php?a=654321&u=https%3A%2F%2Fshop.example%2F',
    account: '654321',
    kind: 'library',
    events: [''],
  },
  { name: 'a request without events', url: 'https://dev.visualwebsiteoptimizer.com/ee.gif?a=1&e=x', events: [] },
  {
    name: 'a malformed event',
    url: 'https://dev.visualwebsiteoptimizer.com/events/t?en=checkout&a=1',
    body: '{"d":',
    events: [],
    error: 'VWO: the body is not JSON',
  },
  { name: "the vendor's website", url: 'https://vwo.com/pricing/', events: null },
])
