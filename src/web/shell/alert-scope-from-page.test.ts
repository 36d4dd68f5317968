import { expect, test } from 'bun:test'
import { scopeOf } from './alert-scope-from-page.ts'

test.each([
  ['/domains/dom_1/live', '', { domainId: 'dom_1' }],
  ['/domains', '', {}],
  ['/domains/new', '', {}],
  ['/signals', '?vendor=Meta+Pixel&state=low', { vendor: 'Meta Pixel' }],
  ['/issues', '?domainId=dom_1,dom_2', {}],
])('the scope of %s%s is %j', (pathname, search, scope) => {
  expect(scopeOf({ pathname, search })).toEqual(scope)
})
