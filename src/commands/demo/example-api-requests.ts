/** Returns paths of API requests for a new user to try, each with a description of the response. */
export function exampleRequests(domainId: string): [path: string, result: string][] {
  return [
    ['/v1/issues', 'open issues'],
    ['/v1/insights/causes', 'their causes'],
    ['/v1/changes', 'releases and the issues they caused'],
    ['/v1/auto/signals', 'usual volume and current state of each tag'],
    ['/v1/compliance/pii', 'personal data sent by tags'],
    ['/v1/compliance/consent', 'vendors that received events from visitors who denied consent'],
    ['/v1/insights/suggestions', 'suggested rules that past traffic already meets'],
    [`/v1/insights/reconcile?domainId=${domainId}`, 'orders that were not reported to vendors'],
    ['/v1/insights/scores', 'scores of availability, accuracy and compliance'],
  ]
}
