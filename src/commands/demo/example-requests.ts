/** Returns paths of API requests for a new user to try, each with a description of its result. */
export function exampleRequests(domainId: string): [path: string, result: string][] {
  return [
    ['/v1/issues', 'open issues'],
    ['/v1/insights/causes', 'their causes'],
    ['/v1/changes', 'releases, and the issues that each one caused'],
    ['/v1/auto/signals', 'the usual volume of each tag, and its current state'],
    ['/v1/compliance/pii', 'personal data sent by tags'],
    ['/v1/compliance/consent', 'vendors that received events of visitors who refused consent'],
    ['/v1/insights/suggestions', 'suggested rules, with which past traffic complies'],
    [`/v1/insights/reconcile?domainId=${domainId}`, 'orders that were not reported to vendors'],
    ['/v1/insights/scores', 'scores of availability, accuracy and compliance'],
  ]
}
