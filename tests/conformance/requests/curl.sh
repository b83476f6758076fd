curl --fail-with-body --silent --show-error "$PLANTS_URL/plants" \
  --header "Authorization: Bearer $PLANTS_TOKEN" \
  --json '{"id": 1, "name": "Monstera deliciosa", "tag": "indoor"}'
