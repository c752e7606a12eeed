// What the benchmarks send, told apart by a serial.

/** The body of a conversion with two lines. */
export function sampleOrder(serial: number) {
  return {
    user_id: `user-${serial % 50_000}`,
    user_logged_in_id: `login-${serial % 20_000}`,
    transaction_id: `order-${serial}`,
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [
      { gtin: '4006381333931', group_id: 'GRP1', brand: 'Acme', price: 19.99, quantity: 2 },
      { gtin: '5901234123457', group_id: 'GRP2', brand: 'Other', price: 5.5, quantity: 1 },
    ],
  }
}

/** An ad to mint, for the shopper of the order with the same serial. */
export function sampleAd(serial: number) {
  return {
    publisherId: 10,
    siteId: 101,
    marketId: 1,
    advertiserId: 1,
    campaignId: 1_001,
    adGroupId: 5_001,
    gtin: '4006381333931',
    groupId: 'GRP1',
    userId: `user-${serial % 50_000}`,
    currency: 'EUR',
    costPerClickMicros: 250_000n,
    costPerMilleMicros: 0n,
    landingUrl: 'https://shop.example/products/4006381333931',
  }
}
